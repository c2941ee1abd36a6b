// The contents of a checkpoint, as plain structs between an arena and a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/actor/module.hpp"

namespace rondo {

struct saved_message {
  message body;
  std::uint64_t age_ns = 0;  // time since it was sent; only if it is stamped
};

/// An actor at a moment when no handler of it ran.
struct saved_actor {
  actor_id id;
  std::string name;
  std::uint16_t behaviour = 0;
  std::uint32_t capacity = 0, batch = max_batch;
  reserved_room reserve{};
  bool pinned = false, paused = false;
  lifecycle state = lifecycle::launched;
  std::uint32_t control = 0;  // pending control_bits
  supervision supervise{};
  std::uint32_t overtakes = 0;
  actor_totals totals;  // accepted == handled + rejected + dead + mail.size()
  std::uint32_t latency_counts[latency_histogram::buckets] = {};
  std::vector<std::byte> state_bytes;
  std::vector<saved_message> mail;      // oldest first
  std::vector<saved_message> arriving;  // sent by other devices but not accepted yet
};

struct checkpoint_image {
  std::int64_t written_us = 0;  // microseconds since 1970
  std::vector<saved_actor> actors;
  actor_totals retired;  // sums over the terminated actors
  std::uint64_t dead_letters = 0;
  std::vector<std::byte> notes;            // the writer's own data
  std::vector<device_event> requests;      // of actors to their host: each is_request
  std::vector<std::uint32_t> generations;  // of each device, the highest one of an actor there
};

}  // namespace rondo
