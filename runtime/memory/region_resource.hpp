// An allocator over one address range that it never accesses: a device's memory, which the host cannot reach.
//
// Threads: one at a time. First fit; free neighbours are merged. The pool above it caches blocks (buffer_pool.hpp), so
// this is not on the message path.
#pragma once

#include <iterator>
#include <map>
#include <memory_resource>
#include <new>

#include "kernels/base/portable.hpp"

namespace rondo {

class region_resource final : public std::pmr::memory_resource {
 public:
  /// Does not own the range. `base` must be aligned for the strictest request.
  region_resource(std::byte* base, std::uint64_t bytes) : base_(base) {
    if (bytes != 0) free_.emplace(0, bytes);
  }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    for (auto piece = free_.begin(); piece != free_.end(); ++piece) {
      auto const [offset, length] = *piece;
      auto const begin = align_up(offset, alignment);
      if (begin - offset > length || bytes > length - (begin - offset)) continue;
      free_.erase(piece);
      if (begin != offset) free_.emplace(offset, begin - offset);
      if (auto const end = begin + bytes; end != offset + length) free_.emplace(end, offset + length - end);
      return base_ + begin;
    }
    throw std::bad_alloc{};
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t) override {
    auto const offset = static_cast<std::uint64_t>(static_cast<std::byte*>(p) - base_);
    auto piece = free_.emplace(offset, bytes).first;
    if (auto const next = std::next(piece); next != free_.end() && next->first == offset + bytes) {
      piece->second += next->second;
      free_.erase(next);
    }
    if (piece == free_.begin()) return;
    if (auto const before = std::prev(piece); before->first + before->second == offset) {
      before->second += piece->second;
      free_.erase(piece);
    }
  }
  bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }

  std::byte* base_;
  std::map<std::uint64_t, std::uint64_t> free_;  // free pieces: bytes by offset
};

}  // namespace rondo
