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

/// Actors in the cells behind that of an actor, one after the other, which differ from it in nothing but their states
/// and counters: so a population is saved as one block. None of them, nor the actor, has a name or mail, or anything to
/// do.
struct saved_followers {
  struct latency {
    std::uint32_t follower, bucket, count;
  };
  std::vector<actor_totals> totals;  // of each follower; so it says how many there are
  std::vector<std::byte> states;     // one behind the other
  std::vector<latency> latencies;    // those that are not 0, in the order of the followers

  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(totals.size()); }
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
  saved_followers followers;

  /// 0: its own; otherwise of a follower, counted from 1.
  actor_id id_of(std::uint32_t i) const noexcept { return {id.index + i, id.generation}; }
};

/// How an error names it, or one of its followers.
std::string name_of(saved_actor const& a, std::uint32_t i = 0);

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
