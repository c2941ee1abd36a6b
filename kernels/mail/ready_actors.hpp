// The actors that are ready to run, as one thread sees them: the ready queues, the teams that sleep while these are
// empty, and the actor that the thread made ready last, which it keeps for itself if no other team is idle.
//
// Threads: `ready_actors` is one thread's view; any number of them share an arena.
// Ordering: `wake`: a sender's seq_cst fence between its push and its load of `parked` pairs with a team's fence
// between setting its bit in `parked` and its last look at the queues. So at least one of the two sees the other (the
// store-buffer pattern, which acquire and release cannot order).
#pragma once

#include "kernels/base/park.hpp"
#include "kernels/mail/arena.hpp"

namespace rondo {

class ready_actors {
 public:
  ready_actors() = default;
  /// A host thread's view is not a team: it never keeps an actor for itself.
  RONDO_HD ready_actors(arena_ref arena, bool is_team) noexcept
      : arena_(arena), bands_(arena.ready(0).positions), is_team_(is_team) {}

  RONDO_HD arena_ref const& arena() const noexcept { return arena_; }

  /// Whether this thread keeps an actor, to run it next.
  RONDO_HD bool keeps_actor() const noexcept { return kept_ != 0; }
  /// A hint: whether this thread would find an actor to run.
  RONDO_HD bool sees_work() const noexcept {
    if (kept_ != 0) return true;
    bool const jobs = arena_.header().open_jobs.load(memory_order::relaxed) != 0;  // relaxed: a hint
    if (loads_at_once == 1 && jobs) return true;
    bool const ready = !nothing_before(ready_bands);  // on a GPU, of the same trip
    return ready || jobs;
  }

  /// Puts the actor that this thread keeps where other threads can take it.
  RONDO_CALL RONDO_HD void share_kept() noexcept {
    if (kept_ == 0) return;
    push_and_wake(kept_ - 1, kept_band_);
    kept_ = 0;
  }

  /// Puts an actor into a band's queue. Precondition: the caller has set its bit for that band (W4).
  RONDO_CALL RONDO_HD void push_and_wake(std::uint32_t index, int band) noexcept {
    arena_.ready(band).push(index);
    if (!is_quiet()) wake();
  }

  /// Wakes up to `count` parked teams. The caller publishes the work first.
  RONDO_CALL RONDO_HD void wake(int count = 1) noexcept {
    if (!threads_park) return;
    atomic_fence(memory_order::seq_cst);  // the edge `wake`
    auto& parked = arena_.header().parked;
    auto bits = parked.load(memory_order::relaxed);
    while (bits != 0 && count > 0) {
      auto const team = static_cast<std::uint32_t>(lowest_bit(bits));
      // Relaxed: claims the right to wake; the doorbell publishes nothing that the queues do not.
      if (parked.compare_exchange(bits, bits & ~(1ull << team), memory_order::relaxed,
                                  memory_order::relaxed)) {
        ring_doorbell(team);
        --count;
        bits = parked.load(memory_order::relaxed);
      }
    }
  }

  /// Wakes the team with this index.
  RONDO_HD void ring_doorbell(std::uint32_t team) noexcept {
    if (!threads_park) return;
    auto& bell = arena_.team(team).doorbell;
    bell.fetch_add(1, memory_order::release);  // pairs with the team's acquire load before it looks for work
    wake_word(bell, 1);
  }

  /// Pushes do not wake teams: before this thread waits, it runs the ready actors itself or calls `wake`.
  RONDO_HD void be_quiet(bool quiet) noexcept { quiet_ = quiet; }
  RONDO_HD bool is_quiet() const noexcept {
#if defined(__CUDA_ARCH__)
    return false;
#else
    return quiet_;
#endif
  }

  /// A hint: the first band whose queue holds an actor; the last one if none does.
  RONDO_HD int first_band() const noexcept {
    int band = 0;
    while (band < ready_bands - 1 && bands_[band].looks_empty()) ++band;
    return band;
  }

  /// A hint: how many actors wait for a team.
  RONDO_HD std::uint32_t count_ready() const noexcept {
    std::uint32_t n = 0;
    for (int b = 0; b < ready_bands; ++b) n += bands_[b].size();
    return n;
  }

 protected:
  RONDO_HD void make_ready(actor_cell& cell, std::uint32_t index, int band, bool pinned,
                           bool to_the_back = false) noexcept {
    if (pinned) return ring_doorbell(cell.team.load(memory_order::relaxed));
    if (to_the_back || !keep(index, band)) push_and_wake(index, band);
  }
  /// Keeps the actor for this thread, if no other team is idle. False if it must go into a queue.
  RONDO_HOT RONDO_HD bool keep(std::uint32_t index, int band) noexcept {
    // Relaxed: a hint.
    if (!is_team_ || kept_ != 0 || arena_.header().idle_teams.load(memory_order::relaxed) != 0) return false;
    kept_ = index + 1;
    kept_band_ = band;
    return true;
  }

  /// A hint: whether the queues of the bands before `band` are empty.
  RONDO_HOT RONDO_HD bool nothing_before(int band) const noexcept {
    if constexpr (loads_at_once != 1) {
      return (bands_to_look_at() & ((1u << band) - 1)) == 0;
    } else {
      for (int b = 0; b < band; ++b)
        if (!bands_[b].looks_empty()) return false;
      return true;
    }
  }

  /// Bits of the bands whose queues may hold something. A GPU asks all of them in one trip; a CPU looks at their
  /// entries.
  RONDO_HD std::uint32_t bands_to_look_at() const noexcept {
    if constexpr (loads_at_once == 1) {
      return (1u << ready_bands) - 1;
    } else {
      std::uint32_t heads[ready_bands], tails[ready_bands];
      RONDO_UNROLL
      for (int b = 0; b < ready_bands; ++b) {
        heads[b] = bands_[b].head.load(memory_order::relaxed);  // relaxed, both: a hint
        tails[b] = bands_[b].tail.load(memory_order::relaxed);
      }
      std::uint32_t bands = 0;
      RONDO_UNROLL
      for (int b = 0; b < ready_bands; ++b) bands |= std::uint32_t{heads[b] != tails[b]} << b;
      return bands;
    }
  }

  arena_ref arena_;
  ready_positions const* bands_ = nullptr;  // of the ready queues
  std::uint32_t kept_ = 0;                  // index + 1 of the actor kept for this thread; 0: none
  int kept_band_ = 0;
  bool is_team_ = false;
  bool quiet_ = false;  // of a host thread
};

}  // namespace rondo
