// Replaces kernels/base/park.hpp: a thread that waits yields to another thread of the simulation.
#pragma once

#include "tests/simulation/world.hpp"

namespace rondo {

using simulation_place = std::source_location;

inline void relax(simulation_place const& at = simulation_place::current()) noexcept {
  if (simulation::world::active()) simulation::world::get().spin(false, "relax", at);
}
inline void yield_thread(simulation_place const& at = simulation_place::current()) noexcept {
  if (simulation::world::active()) simulation::world::get().spin(true, "yield_thread", at);
}

/// Limits of a second and more are safety nets that never trigger here: a lost wake-up must be detected.
inline void wait_word(atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t limit_ns,
                      simulation_place const& at = simulation_place::current()) noexcept {
  if (word.load(memory_order::relaxed, at) != seen) return;
  auto& w = simulation::world::get();
  w.wait(&word, limit_ns >= 1'000'000'000 ? simulation::never : w.now_ns() + limit_ns, true, "wait_word", at);
}
inline void wake_word(atomic<std::uint32_t>& word, int count,
                      simulation_place const& at = simulation_place::current()) noexcept {
  if (!simulation::world::active()) return;
  auto& w = simulation::world::get();
  w.point("wake_word", at);
  if (w.bug().loses_wakeups && w.random().chance(1, 3)) return;
  w.wake(&word, static_cast<std::uint32_t>(count));
}

}  // namespace rondo
