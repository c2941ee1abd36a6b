// The stop word, which stops, resumes, and ends teams. Each team acknowledges a halt in an answer word of its own.
//
// The word is 0 while the teams run. An even number tells them to stand still, and each team answers with that number.
// The same number with the lowest bit set tells the teams that stand still to leave. Each number is used once, so an
// answer to an earlier halt never counts for this one: a team that was about to go on when the next halt came has not
// answered it.
//
// Threads: one thread writes the word (the keeper, grid_keeper.hpp); only the team writes its answer.
// Ordering
//  halt    a team's release store of its answer -> the keeper's acquire load of it: what the team did before.
//  resume  the keeper's release store of the word -> the team's acquire load of it: what was done during the halt.
#pragma once

#include "kernels/base/park.hpp"

namespace rondo {

inline constexpr std::uint32_t leave_bit = 1;

/// The default `is_ready`: the caller can stand still at any time.
struct always_ready {
  RONDO_HD constexpr bool operator()() const noexcept { return true; }
};

/// Answers each number in `stop` and waits, until the word says to go on (returns true) or to leave (returns false).
/// `told` is called after each answer, to wake the keeper. If `is_ready` is false, returns true without answering: the
/// caller goes on, and answers later.
template <class Told, class Ready = always_ready>
RONDO_HD bool stand_still(atomic<std::uint32_t>& stop, atomic<std::uint32_t>& answer, Told told,
                          Ready is_ready = {}) {
  for (std::uint32_t answered = 0;;) {
    auto const word = stop.load(memory_order::acquire);  // the edge `resume`
    if (word == 0) return true;
    if ((word & leave_bit) != 0) return false;
    if (word != answered) {
      if (!is_ready()) return true;
      answer.store(word, memory_order::release);  // the edge `halt`
      told();
      answered = word;
    }
    wait_word(stop, word, 1'000'000'000);
  }
}

/// Stores `word` in `stop` and wakes the teams that wait on it.
RONDO_HD inline void tell_to(atomic<std::uint32_t>& stop, std::uint32_t word) noexcept {
  stop.store(word, memory_order::release);  // the edge `resume`
  wake_word(stop, 1 << 30);
}

}  // namespace rondo
