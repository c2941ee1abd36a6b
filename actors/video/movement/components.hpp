// Connected components of a bit mask: union-find joins the runs of all rows into regions, each with a box and
// an area.
//
// A tile finds the runs of its rows and joins runs that touch (8-neighbours) within the tile.
// `finish_regions` joins across tile borders and lists the regions. All runs are in one array, of which
// each tile owns a slice, and a set's root is its lowest run. So neither the regions nor their order
// depend on the number of tiles.
//
// Threads: tiles may run at the same time, each on ONE lane; `finish_regions` runs alone, after all of them.
#pragma once

#include <cstdint>

#include "actors/video/movement/mask.hpp"

namespace rondo::video {

/// A box of mask pixels [x0, x1) by [y0, y1), and the number of set pixels in it.
struct region {
  std::int32_t x0, y0, x1, y1;
  std::int32_t area;
  std::int32_t look_y = 0, look_u = 0, look_v = 0;  ///< mean colour of the upper part; see sample_looks
};

/// The regions of one frame's mask. `overflow` counts regions dropped for lack of space.
struct region_list {
  static constexpr std::int32_t capacity = 256;
  std::int32_t count;
  std::int32_t overflow;
  std::int32_t lost_runs;  ///< runs dropped for lack of space in their tile; their pixels are in no region
  region items[capacity];
};

/// Pixels [x0, x1) of row y. A root also holds the area and box of its set.
struct mask_run {
  std::int32_t parent;
  std::int32_t area;
  std::uint16_t x0, x1, y;
  std::uint16_t box_x0, box_x1, box_y1;
};

struct tile_runs {
  std::int32_t first, count, lost;
};

/// Working memory of the labelling.
struct component_ref {
  mask_run* runs = nullptr;
  tile_runs* tiles = nullptr;
  std::int32_t tile_count = 0;
  std::int32_t runs_per_row = 0;
};

/// Reserves `runs_per_row` runs per row on average over each tile (a row of w pixels has at most (w + 1) /
/// 2).
RONDO_HD inline component_ref carve_components(carver& memory, std::int32_t height, std::int32_t tile_count,
                                               std::int32_t runs_per_row = 32) {
  component_ref c;
  c.tile_count = tile_count;
  c.runs_per_row = runs_per_row;
  c.runs = memory.take<mask_run>(static_cast<std::size_t>(height) * static_cast<std::size_t>(runs_per_row));
  c.tiles = memory.take<tile_runs>(static_cast<std::size_t>(tile_count));
  return c;
}

namespace detail {

RONDO_HD inline std::int32_t root_of(mask_run* runs, std::int32_t i) {
  while (runs[i].parent != i) {
    runs[i].parent = runs[runs[i].parent].parent;
    i = runs[i].parent;
  }
  return i;
}

RONDO_HD inline void join(mask_run* runs, std::int32_t a, std::int32_t b) {
  a = root_of(runs, a);
  b = root_of(runs, b);
  if (a < b) runs[b].parent = a;
  if (b < a) runs[a].parent = b;
}

/// Joins the touching runs of two neighbouring rows, given as index ranges in order of x.
RONDO_HD inline void join_rows(mask_run* runs, band above, band below) {
  std::int32_t a = above.first, b = below.first;
  while (a < above.last && b < below.last) {
    if (runs[a].x0 <= runs[b].x1 && runs[b].x0 <= runs[a].x1) join(runs, a, b);
    if (runs[a].x1 < runs[b].x1)
      ++a;
    else
      ++b;
  }
}

/// First pixel at or after x whose bit equals `set`, or the width.
RONDO_HD inline std::int32_t next_pixel(bit_mask const& mask, std::uint64_t const* row, std::int32_t x,
                                        bool set) {
  while (x < mask.width) {
    std::uint64_t const word = (set ? row[x / 64] : ~row[x / 64]) >> (x % 64);
    if (word != 0) {
      std::int32_t const found = x + rondo::lowest_bit(word);
      return found < mask.width ? found : mask.width;
    }
    x = (x / 64 + 1) * 64;
  }
  return mask.width;
}

}  // namespace detail

/// Finds and joins the runs of rows `rows` as tile `tile`. Called by one lane.
RONDO_HD inline void label_tile(component_ref const& c, bit_mask const& mask, std::int32_t tile, band rows) {
  std::int32_t const first = rows.first * c.runs_per_row, end = rows.last * c.runs_per_row;
  std::int32_t used = first, lost = 0;
  band above{first, first};
  for (std::int32_t y = rows.first; y < rows.last; ++y) {
    band const here{used, used};
    std::uint64_t const* const row = mask.row(y);
    for (std::int32_t x = 0; (x = detail::next_pixel(mask, row, x, true)) < mask.width;) {
      std::int32_t const stop = detail::next_pixel(mask, row, x, false);
      if (used < end) {
        auto const x0 = static_cast<std::uint16_t>(x), x1 = static_cast<std::uint16_t>(stop);
        auto const line = static_cast<std::uint16_t>(y);
        c.runs[used] = {used, 0, x0, x1, line, x0, x1, line};
        ++used;
      } else {
        ++lost;
      }
      x = stop;
    }
    detail::join_rows(c.runs, above, {here.first, used});
    above = {here.first, used};
  }
  c.tiles[tile] = {first, used - first, lost};
}

/// Joins the tiles and lists the regions of at least `min_area` pixels, in the order of their first pixel.
RONDO_HD inline void finish_regions(component_ref const& c, std::int32_t min_area, region_list& out) {
  mask_run* const runs = c.runs;
  out.count = out.overflow = out.lost_runs = 0;
  band above{0, 0};
  for (std::int32_t t = 0; t < c.tile_count; ++t) {
    std::int32_t const first = c.tiles[t].first, last = first + c.tiles[t].count;
    out.lost_runs += c.tiles[t].lost;
    band top{first, first};
    while (top.last < last && runs[top.last].y == runs[first].y) ++top.last;
    bool const adjacent =
        above.last > above.first && top.last > first && runs[above.first].y + 1 == runs[first].y;
    if (adjacent) detail::join_rows(runs, above, top);
    if (last == first) continue;
    above = {last, last};
    while (above.first > first && runs[above.first - 1].y == runs[last - 1].y) --above.first;
  }
  for (std::int32_t t = 0; t < c.tile_count; ++t) {
    for (std::int32_t i = c.tiles[t].first; i < c.tiles[t].first + c.tiles[t].count; ++i) {
      mask_run& root = runs[detail::root_of(runs, i)];
      root.area += runs[i].x1 - runs[i].x0;
      root.box_x0 = root.box_x0 < runs[i].x0 ? root.box_x0 : runs[i].x0;
      root.box_x1 = root.box_x1 > runs[i].x1 ? root.box_x1 : runs[i].x1;
      root.box_y1 = runs[i].y;  // runs come in order of y
    }
  }
  for (std::int32_t t = 0; t < c.tile_count; ++t) {
    for (std::int32_t i = c.tiles[t].first; i < c.tiles[t].first + c.tiles[t].count; ++i) {
      if (runs[i].parent != i || runs[i].area < min_area) continue;
      if (out.count == region_list::capacity) {
        ++out.overflow;
        continue;
      }
      out.items[out.count++] = {
          runs[i].box_x0, runs[i].y, runs[i].box_x1, runs[i].box_y1 + 1, runs[i].area, 0, 0, 0};
    }
  }
}

/// Sets each region's look: the mean colour of its upper 60 percent, the part of a person that changes least. The
/// frame is twice the mask's size. Reads about a hundred pixels of each region. Called by one lane.
RONDO_HD inline void sample_looks(frame_view const& frame, bit_mask const& mask, region_list& list) {
  for (std::int32_t i = 0; i < list.count; ++i) {
    region& r = list.items[i];
    std::int32_t const w = r.x1 - r.x0, h = (r.y1 - r.y0) * 3 / 5 + 1;
    std::int32_t const step_x = (w + 9) / 10, step_y = (h + 11) / 12;
    std::int32_t y_sum = 0, u_sum = 0, v_sum = 0, n = 0;
    for (std::int32_t y = r.y0; y < r.y0 + h && y < r.y1; y += step_y)
      for (std::int32_t x = r.x0; x < r.x1; x += step_x) {
        if (!mask.get(x, y)) continue;
        y_sum += frame.y.at(2 * x, 2 * y);
        u_sum += frame.u.at(x, y);
        v_sum += frame.v.at(x, y);
        ++n;
      }
    if (n == 0) continue;
    r.look_y = y_sum / n;
    r.look_u = u_sum / n;
    r.look_v = v_sum / n;
  }
}

static_assert(std::is_trivially_copyable_v<region_list> && sizeof(mask_run) == 20);

}  // namespace rondo::video
