// A wide message in progress: which team takes which tile, and which team finishes last.
//
// Invariants
//  J1 The word is {epoch:24, next:20, total:20}; advancing `next` claims that tile. A compare-exchange on a past epoch
//     fails, so a late helper never touches a successor job.
//  J2 Only the team that finished the last tile recycles a job, so what a claimer reads of it does not change.
// Ordering: `open` releases the job's fields to the claimers' acquire, including later ones: their exchanges continue
// its release sequence, and so need not release anything themselves. Each tile's `finish_one` releases its writes to
// the last finisher (acq_rel on one counter).
#pragma once

#include "kernels/base/atomic.hpp"

namespace rondo {

inline constexpr std::uint32_t max_tiles = (1u << 20) - 1;

/// Jobs that can be open at once. A further wide message runs all its tiles on its own team.
RONDO_HD constexpr std::uint32_t wide_jobs_for(std::uint32_t teams) noexcept { return teams < 2 ? 2 : teams; }

struct alignas(64) wide_job {
  atomic<std::uint64_t> word;
  atomic<std::uint32_t> owned;  // 1 from try_own to release
  atomic<std::uint32_t> unfinished;
  std::uint32_t actor;
  std::uint32_t ticket;  // of the message
  bool stays;            // the team that opened the job completes the message, whichever team finishes last
  atomic<std::uint32_t> failure;  // the first errc that a tile reported

  RONDO_HD static constexpr std::uint32_t next_of(std::uint64_t w) noexcept { return (w >> 20) & max_tiles; }
  RONDO_HD static constexpr std::uint32_t total_of(std::uint64_t w) noexcept { return w & max_tiles; }

  /// Takes an unused job for the caller to fill in and open.
  RONDO_HD bool try_own() noexcept {
    std::uint32_t unused = 0;
    // Acquire: pairs with release(); the previous owner has finished with the fields.
    return owned.load(memory_order::relaxed) == 0 &&
           owned.compare_exchange(unused, 1, memory_order::acquire, memory_order::relaxed);
  }
  /// Lets others claim tiles; returns the epoch. Precondition: owned by the caller; 0 < tiles <= max_tiles.
  RONDO_HD std::uint64_t open(std::uint32_t tiles) noexcept {
    failure.store(0, memory_order::relaxed);  // relaxed: published by the word
    unfinished.store(tiles, memory_order::relaxed);
    auto const epoch = ((word.load(memory_order::relaxed) >> 40) + 1) & 0xff'ffff;
    word.store(epoch << 40 | tiles, memory_order::release);
    return epoch;
  }
  /// Claims one tile of whichever message the job now serves. False if none is left.
  RONDO_HD bool try_claim(std::uint32_t& tile) noexcept {
    auto w = word.load(memory_order::relaxed);  // relaxed: the exchange validates it
    while (next_of(w) < total_of(w)) {
      // Acquire: the fields that `open` released.
      if (word.compare_exchange(w, w + (1ull << 20), memory_order::acquire, memory_order::relaxed)) {
        tile = next_of(w);
        return true;
      }
    }
    return false;
  }
  /// Claims one tile, but only of the job that the caller opened as `epoch`, which may have given way to another.
  RONDO_HD bool try_claim_of(std::uint64_t epoch, std::uint32_t& tile) noexcept {
    auto w = word.load(memory_order::relaxed);  // relaxed: the exchange validates it
    while (w >> 40 == epoch && next_of(w) < total_of(w)) {
      // Relaxed: only the claim; the caller wrote the fields itself.
      if (word.compare_exchange(w, w + (1ull << 20), memory_order::relaxed, memory_order::relaxed)) {
        tile = next_of(w);
        return true;
      }
    }
    return false;
  }
  /// True for the one caller that finished the last tile; it has then seen the writes of all tiles.
  RONDO_HD bool finish_one() noexcept { return unfinished.fetch_sub(1, memory_order::acq_rel) == 1; }
  /// Frees the job. Only the last finisher, or the owner of a job that was never opened, calls this.
  RONDO_HD void release() noexcept { owned.store(0, memory_order::release); }
};

}  // namespace rondo
