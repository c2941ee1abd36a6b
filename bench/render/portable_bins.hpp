// The bins of tiles that the portable sort makes (actors/video/overlay/tile_layer.hpp), for comparison with others.
#pragma once

#include <span>
#include <vector>

#include "actors/video/overlay/bin_pairs.hpp"
#include "actors/video/overlay/tile_layer.hpp"

namespace render_bench {

/// Bins in the host's memory. `touched`: the tiles to draw. Shapes from `first_unbinned` on are in no bin.
struct found_bins {
  std::vector<std::uint32_t> begins, touched, shapes;
  std::uint32_t first_unbinned = 0;

  bool operator==(found_bins const&) const = default;
};

/// On one thread.
template <class Shape>
class portable_sort {
 public:
  explicit portable_sort(rondo::video::bin_limits const& limits)
      : grid_(rondo::pixels::tiles_of(limits.width, limits.height)) {
    rondo::video::carver measure(nullptr);
    layer{measure, limits.most, limits.width, limits.height};
    memory_.resize(measure.used());
    rondo::video::carver carved(memory_.data());
    layer_ = layer(carved, limits.most, limits.width, limits.height);
  }

  /// At most as many shapes as it was made for.
  void sort(std::span<Shape const> shapes) {
    auto const parts = layer_.begin(static_cast<std::uint32_t>(shapes.size()));
    for (std::uint32_t p = 0; p < parts; ++p)
      layer_.count(p, [&](std::uint32_t n, Shape* to) { *to = shapes[n]; });
    for (std::uint32_t p = 0, binned = layer_.join(); p < binned; ++p) layer_.put(p);
  }
  /// What it has made.
  found_bins found() const {
    rondo::pixels::tiles_work at{};
    layer_.say_where(memory_.data(), at);
    auto const words = [&](std::uint32_t offset, std::size_t count) {
      auto const* const first = reinterpret_cast<std::uint32_t const*>(memory_.data() + offset);
      return std::vector<std::uint32_t>(first, first + count);
    };
    found_bins f;
    f.begins = words(at.begins, static_cast<std::size_t>(grid_.columns * grid_.rows) + 1);
    f.touched = words(at.touched, layer_.touched());
    f.shapes = words(at.numbers, f.begins.back());
    f.first_unbinned = at.first_unbinned;
    return f;
  }

 private:
  using layer = rondo::video::tile_layer<Shape>;

  rondo::pixels::tile_grid grid_;
  std::vector<std::byte> memory_;
  layer layer_;
};

/// What is expected of bins that hold all groups of shapes up to the first one for which there is no room. The portable
/// sort, which leaves out more, sorts those that remain.
template <class Shape>
found_bins expected_bins(std::vector<Shape> const& shapes, rondo::video::bin_limits const& limits) {
  namespace pixels = rondo::pixels;
  auto const grid = pixels::tiles_of(limits.width, limits.height);
  auto const room = 8 * std::uint64_t{limits.most} + 4 * static_cast<std::uint64_t>(grid.columns * grid.rows);
  std::uint64_t pairs = 0;
  std::size_t binned = 0;
  for (std::size_t n = 0; n < shapes.size(); ++n) {
    if (is_drawn(shapes[n]))
      for (auto [row, last] = tile_rows_of(shapes[n], grid); row < last; ++row) {
        auto const columns = tile_columns_of(shapes[n], grid, row);
        pairs += static_cast<std::uint64_t>(columns.last - columns.first);
      }
    if (pairs > room) break;
    if ((n + 1) % limits.each == 0 || n + 1 == shapes.size()) binned = n + 1;
  }
  portable_sort<Shape> sort(limits);
  sort.sort({shapes.data(), binned});
  auto f = sort.found();
  if (binned == shapes.size()) return f;
  f.touched.clear();
  for (std::uint32_t t = 0; t + 1 < f.begins.size(); ++t) f.touched.push_back(t);
  return f;
}

}  // namespace render_bench
