// Blocking on a 32-bit word where the system has no futex: a table of waiting threads, by the word's address. In
// standard C++, except that forks are noticed. C++20's own wait cannot do it, because it has no limit of time.
//
// **Ordering**: the mutex of the word's lot orders a waker before or after a waiter. If it is before, the waiter sees
// the changed word, and does not wait; if it is after, the waker finds the waiter in the list.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "kernels/base/atomic.hpp"

namespace rondo::detail {

/// As wait_word and wake_word (park.hpp). Wakes those that have waited longest.
class parking_lot {
 public:
  static void wait(atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t limit_ns) noexcept {
    auto& here = lot_of(&word);
    std::unique_lock lock(here.mutex);
    if (word.load(memory_order::relaxed) != seen) return;  // relaxed: under the mutex, see above
    waiter me{&word, nullptr, false, {}};
    auto** last = &here.first;
    while (*last != nullptr) last = &(*last)->next;
    *last = &me;
    std::chrono::nanoseconds const limit(std::min(limit_ns, longest_ns));
    if (me.woken_up.wait_for(lock, limit, [&me] { return me.is_woken; })) return;  // and out of the list
    auto** at = &here.first;
    while (*at != &me) at = &(*at)->next;
    *at = me.next;
  }

  static void wake(atomic<std::uint32_t>& word, int count) noexcept {
    auto& here = lot_of(&word);
    std::lock_guard const lock(here.mutex);
    for (auto** at = &here.first; *at != nullptr && count > 0;) {
      auto& one = **at;
      if (one.word != &word) {
        at = &one.next;
        continue;
      }
      *at = one.next;
      one.is_woken = true;
      one.woken_up.notify_one();  // under the mutex, because it ends with the waiter
      --count;
    }
  }

 private:
  static constexpr std::uint64_t longest_ns =
      3'600'000'000'000;  // more would overflow clocks; a wait may end early

  struct waiter {
    void const* word;
    waiter* next;
    bool is_woken;
    std::condition_variable woken_up;
  };
  struct alignas(64) lot {
    std::mutex mutex;
    waiter* first = nullptr;  // of all words of this lot, the one that has waited longest
  };
  struct table {
    lot lots[64];
    /// A forked child has none of the threads that wait, and all mutexes free.
    table() {
      ::pthread_atfork(
          [] {
            for (auto& l : all().lots) l.mutex.lock();
          },
          [] {
            for (auto& l : all().lots) l.mutex.unlock();
          },
          [] {
            for (auto& l : all().lots) l.first = nullptr, l.mutex.unlock();
          });
    }
  };

  /// Never destroyed, because threads may wait while statics are.
  static table& all() noexcept {
    static auto* const one = new table;
    return *one;
  }
  static lot& lot_of(void const* word) noexcept {
    auto const address = reinterpret_cast<std::uintptr_t>(word);
    return all().lots[(address >> 2 ^ address >> 8 ^ address >> 14) % 64];
  }
};

}  // namespace rondo::detail
