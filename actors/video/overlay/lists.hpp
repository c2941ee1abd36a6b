// The frames that say what is to be drawn over a picture: lists of points, of edges between them, and of boxes. A list
// is in a buffer, with its count before it.
#pragma once

#include <type_traits>

#include "kernels/streams/frame.hpp"

namespace rondo::video {

/// A point that is followed from picture to picture, under the same number.
struct point {
  std::uint32_t id = 0;
  float x = 0, y = 0;    // in pixels, from the upper left corner of the picture
  float vx = 0, vy = 0;  // in pixels per second
};

/// A link between two points, and where they are.
struct edge {
  std::uint32_t from = 0, to = 0;  // their numbers
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

/// A box around something that is followed.
struct box {
  std::uint32_t id = 0;
  float x = 0, y = 0, width = 0, height = 0;  // in pixels; (x, y): the upper left corner
};

/// What a port with a list says of it: how many items there may be.
template <class Item>
struct list_of {
  static_assert(std::is_trivially_copyable_v<Item> && alignof(Item) <= 8);
  static constexpr std::uint32_t limit = 1 << 20;  // of items

  std::uint32_t most = 0;

  RONDO_HD std::uint64_t bytes() const noexcept { return 8 + std::uint64_t{most} * sizeof(Item); }
  void describe(auto& option) { option("most", most, "items of a list", 1, limit); }
  friend bool operator==(list_of const&, list_of const&) = default;
};
using points = list_of<point>;
using edges = list_of<edge>;
using boxes = list_of<box>;

/// A list in a frame's data. Reading it never leaves the frame, whatever its count says.
template <class Item>
class list_view {
 public:
  RONDO_HD list_view() noexcept {}
  RONDO_HD list_view(list_of<Item> about, std::byte const* data) noexcept
      : about_(about), data_(const_cast<std::byte*>(data)) {}

  RONDO_HD explicit operator bool() const noexcept { return data_ != nullptr; }
  RONDO_HD std::uint32_t size() const noexcept {
    return head().count < about_.most ? head().count : about_.most;
  }
  RONDO_HD Item const* begin() const noexcept { return items(); }
  RONDO_HD Item const* end() const noexcept { return items() + size(); }
  RONDO_HD Item const& operator[](std::uint32_t i) const noexcept { return items()[i]; }
  /// How many had no room, or could not be used.
  RONDO_HD std::uint32_t left_out() const noexcept { return head().left_out; }

  /// How many it can hold.
  RONDO_HD std::uint32_t most() const noexcept { return about_.most; }

  // -- for who writes it
  RONDO_HD void clear() noexcept { head() = {}; }
  RONDO_HD void add(Item const& item) noexcept {
    auto& h = head();
    if (h.count < about_.most)
      items()[h.count++] = item;
    else
      ++h.left_out;
  }
  RONDO_HD void leave_out(std::uint32_t count) noexcept { head().left_out += count; }

 private:
  struct list_head {
    std::uint32_t count = 0, left_out = 0;
  };
  RONDO_HD list_head& head() const noexcept { return *reinterpret_cast<list_head*>(data_); }
  RONDO_HD Item* items() const noexcept { return reinterpret_cast<Item*>(data_ + sizeof(list_head)); }

  list_of<Item> about_{};
  std::byte* data_ = nullptr;
};

}  // namespace rondo::video
