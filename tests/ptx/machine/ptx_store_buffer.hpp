// Stores that their writer has made, and that others do not see yet. They leave in any order, but two stores to the
// same bytes leave in the order in which they came.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ptx {

struct pending_store {
  std::uint64_t address = 0, value = 0;
  std::uint32_t bytes = 0;
};

class store_buffer {
 public:
  static constexpr std::size_t room = 24;

  bool empty() const noexcept { return stores_.empty(); }
  std::size_t size() const noexcept { return stores_.size(); }

  bool overlaps(std::uint64_t address, std::uint32_t bytes) const noexcept {
    if (address >= high_ || address + bytes <= low_ || stores_.empty()) return false;
    return std::any_of(stores_.begin(), stores_.end(),
                       [&](auto const& s) { return meet(s, address, bytes); });
  }

  /// Replaces the bytes of `value`, loaded from `address`, that stores in here change.
  void overlay(std::uint64_t address, std::uint32_t bytes, std::uint64_t& value) const noexcept {
    if (address >= high_ || address + bytes <= low_) return;
    for (auto const& s : stores_) {
      if (!meet(s, address, bytes)) continue;
      auto const first = std::max(address, s.address), last = std::min(address + bytes, s.address + s.bytes);
      auto const mask = (~std::uint64_t{0} >> (64 - 8 * (last - first))) << 8 * (first - address);
      value = (value & ~mask) | (s.value >> 8 * (first - s.address) << 8 * (first - address) & mask);
    }
  }

  void push(pending_store const& s) {
    low_ = stores_.empty() ? s.address : std::min(low_, s.address);
    high_ = stores_.empty() ? s.address + s.bytes : std::max(high_, s.address + s.bytes);
    stores_.push_back(s);
  }

  /// Lets the store number `index` leave, or the oldest that must leave before it.
  template <class To>
  void drain(std::size_t index, To to) {
    auto const wanted = stores_[index];
    std::size_t oldest = 0;
    while (!meet(stores_[oldest], wanted.address, wanted.bytes)) ++oldest;
    auto const s = stores_[oldest];
    stores_.erase(stores_.begin() + static_cast<long>(oldest));
    if (stores_.empty()) low_ = high_ = 0;
    to(s);
  }
  template <class To>
  void drain_overlapping(std::uint64_t address, std::uint32_t bytes, To to) {
    for (std::size_t n = 0; overlaps(address, bytes);) {
      if (meet(stores_[n], address, bytes))
        drain(n, to), n = 0;
      else
        ++n;
    }
  }
  template <class To>
  void flush(To to) {
    for (auto const& s : stores_) to(s);
    stores_.clear();
    low_ = high_ = 0;
  }

 private:
  static bool meet(pending_store const& s, std::uint64_t address, std::uint32_t bytes) noexcept {
    return s.address < address + bytes && address < s.address + s.bytes;
  }

  std::vector<pending_store> stores_;  // oldest first
  std::uint64_t low_ = 0, high_ = 0;   // all stores are between
};

}  // namespace ptx
