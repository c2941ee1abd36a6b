// Bins of tiles by pairs of a tile and a shape: what each thread of a GPU does before and after the pairs are sorted
// (cub_bins.hpp). The bins are those of kernels/pixels/overlay/bins.hpp.
//
//   1. count   for each shape: in how many tiles it is. A scan then tells where its pairs begin
//   2. write   for each place of a pair: the pair. All are then sorted by tile; pairs of the same tile stay in order
//   3. find    for each tile: where its pairs begin
//
// Only the device knows how many pairs there are. So as many places are sorted as there is memory for, and those
// without a pair come last: their tile is one that the picture does not have.
//
// Compile it without fused multiplications (--fmad=false): the tiles of a shape must be the same in each step, and on
// the host.
//
// Threads: within a step, any calls at the same time.
#pragma once

#include "actors/video/pixels/image_view.hpp"
#include "kernels/pixels/overlay/draw_shapes.hpp"

namespace rondo::video {

/// What bins are for.
struct bin_limits {
  static constexpr std::uint32_t most_shapes = pixels::most_binned_shapes;

  std::uint32_t most;          ///< shapes
  std::int32_t width, height;  ///< of the picture
  std::uint32_t each = 1;      ///< so many shapes, one after the other, are in bins together, or in none
};

/// What sorting finds, besides the bins.
struct bin_report {
  std::uint32_t touched;  ///< how many tiles there are to draw
  std::uint32_t
      first_unbinned;  ///< this shape and all later ones are in no bin; how many shapes there are, if all fit
};

/// The first of [0, count) for which `holds`; `count`: none. From there on it must hold for all.
template <class Holds>
RONDO_HD std::uint32_t first_that(std::uint32_t count, Holds const& holds) {
  std::uint32_t first = 0;
  while (count != 0) {
    auto const half = count / 2;
    if (holds(first + half))
      count = half;
    else
      first += half + 1, count -= half + 1;
  }
  return first;
}

/// Carved out of a block of the device's memory. `Shape`: as of tile_layer.hpp.
template <class Shape>
struct bin_pairs {
  Shape const* shapes;         // of the caller
  std::uint32_t const* given;  // how many; beyond limits.most it is not believed
  bin_limits limits;
  pixels::tile_grid grid;
  std::uint32_t places;    // of pairs
  std::uint64_t* begins;   // of each shape's pairs; and their sum
  std::uint32_t* tiles;    // of each pair, as written
  std::uint32_t* numbers;  // of its shape
  std::uint32_t* sorted;   // tiles; the numbers that go with them are bins.shapes
  pixels::bin_tables bins;
  bin_report* report;

  /// `shape_count`: where the device finds how many there are.
  RONDO_HD bin_pairs(carver& memory, Shape const* all, std::uint32_t const* shape_count,
                     bin_limits const& about) noexcept
      : shapes(all),
        given(shape_count),
        limits(about),
        grid(pixels::tiles_of(about.width, about.height)),
        bins{} {
    auto const count = static_cast<std::size_t>(grid.columns) * static_cast<std::size_t>(grid.rows);
    places = pixels::bin_places(limits.most, static_cast<std::uint32_t>(count));
    begins = memory.take<std::uint64_t>(std::size_t{limits.most} + 1);
    tiles = memory.take<std::uint32_t>(places);
    numbers = memory.take<std::uint32_t>(places);
    sorted = memory.take<std::uint32_t>(places);
    bins.begins = memory.take<std::uint32_t>(count + 1);
    bins.touched = memory.take<std::uint32_t>(count);
    bins.shapes = memory.take<std::uint32_t>(places);
    bins.tiles = static_cast<std::int32_t>(count);
    report = memory.take<bin_report>(1);
  }

  RONDO_HD std::uint32_t tile_count() const noexcept { return static_cast<std::uint32_t>(bins.tiles); }
  RONDO_HD std::uint32_t shape_count() const noexcept { return *given < limits.most ? *given : limits.most; }

  /// Of a shape, or of number `limits.most`: there is none, so that the scan leaves the sum there.
  RONDO_HD void count(std::uint32_t shape) const {
    std::uint64_t all = 0;
    if (shape < shape_count() && is_drawn(shapes[shape]))
      for (auto [row, last] = tile_rows_of(shapes[shape], grid); row < last; ++row)
        all += width_of(shape, row);
    begins[shape] = all;
  }
  /// Which pair belongs in a place.
  RONDO_HD void write(std::uint32_t place) const {
    tiles[place] = tile_count();
    numbers[place] = 0;
    if (place >= begins[limits.most]) return;
    // The last shape that begins here or before; those without pairs begin where the next one does.
    auto const shape = first_that(limits.most + 1, [&](std::uint32_t s) { return begins[s] > place; }) - 1;
    if (begins[end_of_group(shape)] > places) return;
    auto left = static_cast<std::uint32_t>(place - begins[shape]);
    for (auto [row, last] = tile_rows_of(shapes[shape], grid); row < last; ++row) {
      auto const width = width_of(shape, row);
      if (left < width) {
        auto const column = tile_columns_of(shapes[shape], grid, row).first + static_cast<std::int32_t>(left);
        tiles[place] = static_cast<std::uint32_t>(row * grid.columns + column);
        numbers[place] = shape;
        return;
      }
      left -= width;
    }
  }
  /// Of a tile, or of the number of all of them.
  RONDO_HD void find(std::uint32_t tile) const {
    bins.begins[tile] = first_that(places, [&](std::uint32_t p) { return sorted[p] >= tile; });
    if (tile == tile_count()) report->first_unbinned = first_unbinned();
  }
  /// After `find` of all.
  RONDO_HD bool is_touched(std::uint32_t tile) const {
    // What is in no bin may be anywhere.
    return bins.begins[tile] != bins.begins[tile + 1] || report->first_unbinned != shape_count();
  }

 private:
  RONDO_HD std::uint32_t width_of(std::uint32_t shape, std::int32_t row) const {
    auto const columns = tile_columns_of(shapes[shape], grid, row);
    return static_cast<std::uint32_t>(columns.last - columns.first);
  }
  RONDO_HD std::uint32_t end_of_group(std::uint32_t shape) const {
    auto const end = shape - shape % limits.each + limits.each;
    return end < limits.most ? end : limits.most;
  }
  RONDO_HD std::uint32_t first_unbinned() const {
    auto const beyond = first_that(limits.most + 1, [&](std::uint32_t s) { return begins[s] > places; });
    return beyond > limits.most ? shape_count() : beyond - 1 - (beyond - 1) % limits.each;
  }
};

}  // namespace rondo::video
