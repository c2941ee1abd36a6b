// What a service with durable actors writes into its checkpoint's notes: which messages of which stream are in the states.
//
// One line of text: `rondo.nats 1 <stream's time of creation, ns> <set>`, the set as sequence_set writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/nats/sequence_set.hpp"

namespace rondo::service {

struct durable_notes {
  std::int64_t stream_created_ns = 0;  // 0: no stream was seen yet
  sequence_set taken;
  bool operator==(durable_notes const&) const = default;
};

std::vector<std::byte> encode(durable_notes const& notes);
/// No bytes: no stream. Throws std::invalid_argument for what `encode` does not write.
durable_notes decode_notes(std::span<std::byte const> bytes);

}  // namespace rondo::service
