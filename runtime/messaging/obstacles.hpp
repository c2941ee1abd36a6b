// Obstacles that keep messages from taking a device's route at once: lines of waiting messages, and the end of the
// runtime.
//
// A sender pays one relaxed load for the check. Threads: all functions from any thread.
#pragma once

#include <array>

#include "kernels/base/atomic.hpp"
#include "runtime/base/errc.hpp"

namespace rondo {

class obstacles {
 public:
  // Relaxed here and for the lines: a sender sees its own changes, and is not ordered with other senders. A mutex
  // guards the lines themselves.
  bool any() const noexcept { return word_.load(memory_order::relaxed) != 0; }
  /// False: this actor has no line that concerns senders that do not wait.
  bool may_have_line(std::uint32_t actor) const noexcept {
    return lines(actor).load(memory_order::relaxed) != 0;
  }
  void add_line(std::uint32_t actor) noexcept {
    lines(actor).fetch_add(1, memory_order::relaxed);
    word_.fetch_add(1, memory_order::relaxed);
  }
  void remove_line(std::uint32_t actor) noexcept {
    lines(actor).fetch_sub(1, memory_order::relaxed);
    word_.fetch_sub(1, memory_order::relaxed);
  }

  /// The reason of `close`; ok while this is open.
  errc closed_for() const noexcept { return static_cast<errc>(word_.load(memory_order::acquire) >> 32); }
  /// Stops all sending. The first reason stays and is returned.
  errc close(errc reason) noexcept {
    auto word = word_.load(memory_order::relaxed);  // relaxed: the exchange validates it
    while (word >> 32 == 0 && !word_.compare_exchange(word, word | static_cast<std::uint64_t>(reason) << 32,
                                                      memory_order::acq_rel, memory_order::relaxed)) {
    }
    return closed_for();
  }

 private:
  using counter = atomic<std::uint32_t>;
  counter& lines(std::uint32_t actor) noexcept { return lines_[actor % lines_.size()]; }
  counter const& lines(std::uint32_t actor) const noexcept { return lines_[actor % lines_.size()]; }

  atomic<std::uint64_t> word_{0};    // low half: the number of lines; high half: the reason
  std::array<counter, 64> lines_{};  // number of lines by the low bits of the actor's index
};

}  // namespace rondo
