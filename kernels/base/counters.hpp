// An actor's counters: the outcomes of its messages, and how long they took.
//
// Threads: written by the team that runs the actor (W2), read by any thread at any time.
// Ordering: published_totals is a seqlock, so a reader sees the actor at one moment. The histogram is not part
// of it.
#pragma once

#include "kernels/base/atomic.hpp"
#include "kernels/base/telemetry.hpp"

namespace rondo {

/// An actor's counters at one moment. At rest accepted == handled + rejected + dead + waiting (G1).
struct actor_totals {
  std::uint64_t accepted = 0;        // tickets that senders took, counted on the senders' side of the mailbox
  std::uint64_t handled = 0;         // a handler has run on them, and has not failed
  std::uint64_t rejected = 0;        // answered to the sender with a reason
  std::uint64_t dead = 0;            // dead-lettered with a reason
  std::uint64_t failures = 0;        // handlers that reported an error
  std::uint64_t latency_sum_ns = 0;  // of the samples: from sending to the end of the handler
  std::uint32_t latency_samples = 0;  // number of messages that were timed
  std::uint32_t peak_depth = 0;       // most messages seen waiting at the start of a slice

  /// Messages that were completed, with any outcome.
  RONDO_HD constexpr std::uint64_t ended() const noexcept { return handled + rejected + dead; }
};

/// Calls `f(of.accepted...)` and so on, for each count of messages. Takes any structs with these members.
template <class F, class... Counters>
RONDO_HD constexpr void each_outcome(F f, Counters&... of) {
  f(of.accepted...);
  f(of.handled...);
  f(of.rejected...);
  f(of.dead...);
  f(of.failures...);
}
/// The same for all counters that can be summed.
template <class F, class... Counters>
RONDO_HD constexpr void each_sum(F f, Counters&... of) {
  each_outcome(f, of...);
  f(of.latency_sum_ns...);
  f(of.latency_samples...);
}

/// Adds counters; the peak is the larger of the two.
RONDO_HD inline actor_totals& operator+=(actor_totals& sum, actor_totals const& more) {
  each_sum([](auto& to, auto value) { to += value; }, sum, more);
  sum.peak_depth = more.peak_depth > sum.peak_depth ? more.peak_depth : sum.peak_depth;
  return sum;
}

// -- for the runtime
/// The totals as published to other threads.
class alignas(64) published_totals {
  struct nothing_else {
    RONDO_HD void operator()() const noexcept {}
  };

 public:
  published_totals() = default;  // zeroed memory is all zeros
  /// Zeros, as if published version / 2 times: a test can make the version overflow. Precondition: `version` is even.
  RONDO_HD explicit published_totals(std::uint32_t version) noexcept : published_totals() {
    version_.store(version, memory_order::relaxed);  // relaxed: not shared yet
  }

  /// Only the team that runs the actor calls this. `also` makes relaxed stores of values that belong to the same
  /// moment.
  template <class Also = nothing_else>
  RONDO_HOT RONDO_HD void publish(actor_totals const& t, Also const& also = {}) noexcept {
    auto const version = version_.load_own();
    version_.store(version + 1, memory_order::relaxed);
    atomic_fence(memory_order::release);  // the odd version becomes visible before any of the new values
    // Relaxed: bracketed by the versions.
    accepted_.store(t.accepted, memory_order::relaxed);
    handled_.store(t.handled, memory_order::relaxed);
    rejected_.store(t.rejected, memory_order::relaxed);
    dead_.store(t.dead, memory_order::relaxed);
    failures_.store(t.failures, memory_order::relaxed);
    if constexpr (with_telemetry) {
      latency_sum_ns_.store(t.latency_sum_ns, memory_order::relaxed);
      latency_samples_.store(t.latency_samples, memory_order::relaxed);
    }
    also();
    version_.store(((version + 2) & 0xffff'ffff) | peak_bits(t.peak_depth), memory_order::release);
  }

  /// For the team that runs the actor.
  RONDO_HD actor_totals own() const noexcept {
    return values(version_.load_own(), [](auto const& counter) { return counter.load_own(); });
  }
  /// For others, without a retry: perhaps of several moments.
  RONDO_HD actor_totals some() const noexcept {
    return values(version_.load(memory_order::relaxed), load_relaxed{});
  }

  /// False if the owner was publishing; try again. `also` makes relaxed loads of values that belong to the same moment.
  template <class Also = nothing_else>
  RONDO_HD bool try_read(actor_totals& out, Also also = {}) const noexcept {
    auto const before = version_.load(memory_order::acquire);  // pairs with the final store of publish
    if ((before & 1) != 0) return false;
    out = values(before, load_relaxed{});
    also();
    atomic_fence(memory_order::acquire);  // the values are read before the version is read again
    // One message that is handled at once waits unseen: owners look at the depth where there may be more.
    if (with_telemetry && out.peak_depth == 0 && out.ended() != 0) out.peak_depth = 1;
    return version_.load(memory_order::relaxed) == before;
  }

 private:
  // The version's upper half carries the peak depth, so that the totals fit in one cache line.
  RONDO_HD static constexpr std::uint64_t peak_bits(std::uint32_t peak) noexcept {
    return std::uint64_t{peak} << 32;
  }
  struct load_relaxed {
    template <class T>
    RONDO_HD T operator()(atomic<T> const& counter) const noexcept {
      return counter.load(memory_order::relaxed);
    }
  };
  template <class Load>
  RONDO_HD actor_totals values(std::uint64_t version, Load const& load) const noexcept {
    actor_totals t;
    t.accepted = load(accepted_);
    t.handled = load(handled_);
    t.rejected = load(rejected_);
    t.dead = load(dead_);
    t.failures = load(failures_);
    t.latency_sum_ns = load(latency_sum_ns_);
    t.latency_samples = load(latency_samples_);
    t.peak_depth = static_cast<std::uint32_t>(version >> 32);
    return t;
  }

  atomic<std::uint64_t> version_;
  atomic<std::uint64_t> accepted_, handled_, rejected_, dead_, failures_, latency_sum_ns_;
  atomic<std::uint32_t> latency_samples_;

 public:
  atomic<std::uint32_t> counted_ring;  // 0: none; changes together with actor_cell::tail_seen
};
static_assert(sizeof(published_totals) == 64);

// -- for programs
/// A histogram of durations: two buckets per octave from 64 ns to a second.
class latency_histogram {
 public:
  static constexpr int buckets = 48;  // number of counts

  /// The bucket of a duration.
  RONDO_HD static int bucket_of(std::uint64_t ns) noexcept {
    if (ns < 64) return 0;
    int const octave = highest_bit(ns);
    int const half = static_cast<int>(ns >> (octave - 1)) & 1;
    int const bucket = 2 * (octave - 6) + half;
    return bucket < buckets ? bucket : buckets - 1;
  }
  /// The shortest duration that falls into `bucket`, in ns.
  RONDO_HD static constexpr std::uint64_t floor_ns(int bucket) noexcept {
    return bucket == 0 ? 0 : (std::uint64_t{2} + (bucket & 1)) << (bucket / 2 + 5);
  }

  /// Only the team that runs the actor calls this.
  RONDO_HD void record(std::uint64_t ns) noexcept {
    counts_[buckets - 1 - bucket_of(ns)].add_single_writer(1);
  }
  /// How many durations fell into the bucket.
  RONDO_HD std::uint32_t count(int bucket) const noexcept {
    return counts_[buckets - 1 - bucket].load(memory_order::relaxed);  // relaxed: a statistic
  }
  /// Restores a count from a checkpoint. Precondition: no team owns the actor.
  RONDO_HD void set(int bucket, std::uint32_t count) noexcept {
    counts_[buckets - 1 - bucket].store(count, memory_order::relaxed);  // relaxed: the cell is not in use
  }
  /// Sets all counts to 0. Precondition: no team owns the actor.
  RONDO_HD void clear() noexcept {
    for (auto& c : counts_) c.store(0, memory_order::relaxed);  // relaxed: the cell is not in use
  }

 private:
  atomic<std::uint32_t> counts_[buckets];  // longest durations first; see actor_cell.hpp
};
static_assert(sizeof(latency_histogram) == 192);

}  // namespace rondo
