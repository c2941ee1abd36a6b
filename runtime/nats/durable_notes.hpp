// The checkpoint notes of a service with durable actors: which messages of which stream the states include.
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
  std::int64_t stream_created_ns = 0;  // 0: no stream yet
  sequence_set taken;
  bool operator==(durable_notes const&) const = default;
};

std::vector<std::byte> encode(durable_notes const& notes);
/// Empty `bytes`: no stream. Throws std::invalid_argument if `encode` could not have written them.
durable_notes decode_notes(std::span<std::byte const> bytes);

}  // namespace rondo::service
