// Which shapes touch which tile of a picture: bins, by a counting sort. The work is shared by parts of the shapes,
// which do not depend on each other: each part counts its shapes in each tile, all counts are added up, and each part
// puts its shapes where its counts begin. So a bin has its shapes in the order in which they are drawn, whoever sorts.
#pragma once

#include "kernels/pixels/planes.hpp"

namespace rondo {
namespace pixels {

/// The tiles of a picture, row by row.
struct tile_grid {
  i32 columns, rows;
};
RONDO_PIXELS tile_grid tiles_of(i32 width, i32 height) {
  tile_grid g;
  g.columns = (width + tile_side - 1) / tile_side;
  g.rows = (height + tile_side - 1) / tile_side;
  return g;
}

/// Tiles [first, last) of a row of tiles, or rows of them.
struct tile_range {
  i32 first, last;
};
/// Those that [low, high) touches, of `count` in all.
RONDO_PIXELS tile_range tiles_within(float low, float high, i32 count) {
  float const limit = static_cast<float>(count * tile_side);
  tile_range t;
  t.first = low <= 0 ? 0 : low >= limit ? count : static_cast<i32>(low) / tile_side;
  t.last = high <= 0 ? 0 : high >= limit ? count : static_cast<i32>(high) / tile_side + 1;
  if (!(low < high)) t.last = t.first;
  return t;
}

/// Shapes that are drawn: numbers of some, in the order in which they are drawn; null: all.
template <class Shape>
struct shape_list {
  RONDO_BUFFER u32 const* numbers;
  RONDO_BUFFER Shape const* shapes;
  i32 count;
};
template <class Shape>
RONDO_PIXELS u32 number_of(shape_list<Shape> list, i32 n) {
  return list.numbers != nullptr ? list.numbers[n] : static_cast<u32>(n);
}

/// Where the bins are: `counts` has a row of tiles for each part; behind `sum_counts` it is where that part's next
/// shape goes. `begins` has a place more than there are tiles.
struct bin_tables {
  RONDO_BUFFER u32* counts;
  RONDO_BUFFER u32* begins;
  RONDO_BUFFER u32* touched;  // the numbers of the tiles that are not empty
  RONDO_BUFFER u32* shapes;   // of all tiles, one after the other
  i32 tiles, parts;
};

/// The most shapes of a picture.
constexpr u32 most_binned_shapes = 1u << 21;
/// Places in bins for at most so many shapes. What they cannot hold is looked for in every tile.
RONDO_PIXELS u32 bin_places(u32 shapes, u32 tiles) { return 8 * shapes + 4 * tiles; }

RONDO_PIXELS void clear_counts(bin_tables b, i32 part) {
  for (i32 t = 0; t < b.tiles; ++t) b.counts[part * b.tiles + t] = 0;
}
/// Counts a shape in a row of tiles.
RONDO_PIXELS void count_in(bin_tables b, i32 part, i32 first_tile, tile_range columns) {
  for (i32 t = columns.first; t < columns.last; ++t) ++b.counts[part * b.tiles + first_tile + t];
}
/// Puts it there.
RONDO_PIXELS void put_into(bin_tables b, i32 part, i32 first_tile, tile_range columns, u32 shape) {
  for (i32 t = columns.first; t < columns.last; ++t)
    b.shapes[b.counts[part * b.tiles + first_tile + t]++] = shape;
}

/// What sum_counts finds.
struct bin_totals {
  u32 shapes;   // in all bins
  i32 touched;  // tiles that are not empty
};
/// Between counting and putting. All counts together are below 2^32.
RONDO_PIXELS bin_totals sum_counts(bin_tables b) {
  bin_totals all = {0, 0};
  for (i32 t = 0; t < b.tiles; ++t) {
    b.begins[t] = all.shapes;
    for (i32 p = 0; p < b.parts; ++p) {
      u32 const count = b.counts[p * b.tiles + t];
      b.counts[p * b.tiles + t] = all.shapes;
      all.shapes += count;
    }
    if (all.shapes != b.begins[t]) b.touched[all.touched++] = static_cast<u32>(t);
  }
  b.begins[b.tiles] = all.shapes;
  return all;
}

}  // namespace pixels
}  // namespace rondo
