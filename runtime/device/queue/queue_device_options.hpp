// The parts of a queue_device: its teams, rounds, rings and memory.
#pragma once

#include "kernels/actor/ring_kernel.hpp"

namespace rondo {

struct queue_device_options {
  std::uint32_t teams = 2;         // teams that take any actor
  std::uint32_t pinned_teams = 0;  // teams that serve one actor each; they exist from the start
  idle_policy idle;                // of teams, I/O team, and poller
  std::uint64_t nap_ns = 200'000;  // sleep of the poller between two looks, if the teams cannot ring for it
  round_limits round;              // zeros: persistent
  std::uint32_t submission_slots = 1024,
                completion_slots = 1024;  // powers of two; submission_slots is also the largest batch
  std::uint64_t buffer_bytes = 1 << 20;   // for buffers in the device's memory
  std::uint32_t buffer_slots = 4096;      // for as many of them
  std::uint64_t pinned_bytes = 1 << 20;   // of host memory, for copies in both directions
};

}  // namespace rondo
