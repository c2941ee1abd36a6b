// Words that a test and its handlers share, in memory that every device of this build can access: pinned if there is a
// GPU. Allocated once, because a later allocation may wait for a grid, which never ends.
#pragma once

#include <cstdint>
#include <new>
#include <span>

#include "kernels/base/atomic.hpp"

namespace conformance {

/// Written by only one side at a time, or only added to by handlers: PCIe has no atomics between host and device.
using word = rondo::atomic<std::uint32_t, rondo::scope::system>;

inline constexpr std::size_t reachable_bytes = 64;
/// Zeroed. Throws std::bad_alloc if a thousand are in use.
void* take_reachable();
void give_back_reachable(void* p) noexcept;
/// All that take_reachable gives.
std::span<std::byte> reachable_memory();

template <class T>
class in_reach {
  static_assert(sizeof(T) <= reachable_bytes);

 public:
  in_reach() : at_(new (take_reachable()) T{}) {}
  ~in_reach() { give_back_reachable(at_); }
  in_reach(in_reach const&) = delete;
  in_reach& operator=(in_reach const&) = delete;
  T& operator*() const noexcept { return *at_; }

 private:
  T* at_;
};

/// A word that handlers write and the test reads.
class shared_word {
 public:
  operator std::uint32_t() const noexcept { return (*at_).load(rondo::memory_order::acquire); }
  shared_word& operator=(std::uint32_t value) noexcept {
    (*at_).store(value, rondo::memory_order::release);
    return *this;
  }
  word* get() const noexcept { return &*at_; }

 private:
  in_reach<word> at_;
};

}  // namespace conformance
