// Stops, resumes and ends teams: one word that they obey, and one per team in which it answers.
//
// The word is 0 while they run. An even number has them stand still, and each one answers with that number; the same
// number with the lowest bit set has those that stand leave. A number is used once, so an answer to an earlier halt is
// never taken for one to this: a team that was about to go on when the next halt came has not answered it.
//
// Threads: the word is written by one thread (the keeper, grid_keeper.hpp), an answer by its team alone.
// Ordering
//  halt    a team's release store of its answer -> the keeper's acquire load of it: what the team did before.
//  resume  the keeper's release store of the word -> the team's acquire load of it: what was done meanwhile.
#pragma once

#include "kernels/base/park.hpp"

namespace rondo {

inline constexpr std::uint32_t leave_bit = 1;

/// Who can stand still at any time.
struct always_ready {
  RONDO_HD constexpr bool operator()() const noexcept { return true; }
};

/// Answers every number in `stop` until it says whether to go on (true) or to leave. `told` is called after each answer,
/// and wakes the keeper. `is_ready` false: this number is not to be answered yet; returns true, as if told to go on.
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

/// Says `word` to those that obey `stop`.
RONDO_HD inline void tell_to(atomic<std::uint32_t>& stop, std::uint32_t word) noexcept {
  stop.store(word, memory_order::release);  // the edge `resume`
  wake_word(stop, 1 << 30);
}

}  // namespace rondo
