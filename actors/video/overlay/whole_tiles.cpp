// CMakeLists.txt compiles this file with options with which its loops of a fixed length are vectorised.
#include "actors/video/overlay/whole_tiles.hpp"

#include <cstring>
#include <initializer_list>

#include "actors/video/pixels/clones.hpp"

namespace rondo::video::whole_tiles {

using namespace pixels;

namespace {

// Lines are narrow.
template <class Shape>
constexpr i32 columns_of_block = 16;
template <>
constexpr i32 columns_of_block<segment> = 8;
constexpr i32 rows_of_band = 8, rows_ahead = 4;

/// Begins to load what lies in a tile's rows row and row + 1. The processor does not foresee a tile: each row is a line
/// of the cache, and far from the one above.
RONDO_PIXELS void fetch(drawn_planes const& to, i32 x, i32 row) {
  __builtin_prefetch(to.y + row * to.stride + x, 1);
  __builtin_prefetch(to.y + (row + 1) * to.stride + x, 1);
  __builtin_prefetch(to.u + row / 2 * to.colour_stride + x / 2, 1);
  __builtin_prefetch(to.v + row / 2 * to.colour_stride + x / 2, 1);
}
RONDO_PIXELS void fetch(layer_planes const& to, i32 x, i32 row) {
  for (i32 r = row; r < row + 2; ++r)
    for (auto* const plane : {to.red, to.green, to.blue, to.opacities}) {
      __builtin_prefetch(plane + r * to.stride + x, 1);
      __builtin_prefetch(plane + r * to.stride + x + 32, 1);
    }
}

/// Those of a list that may cover some of the rows [first, last). `numbers`: for at least as many as the list has.
template <class Shape>
RONDO_PIXELS shape_list<Shape> those_within(shape_list<Shape> const& list, f32 first, f32 last,
                                            u32* numbers) {
  i32 count = 0;
  for (i32 n = 0; n < list.count; ++n) {
    auto const number = number_of(list, n);
    auto const rows = rows_of(list.shapes[number]);
    numbers[count] = number;
    count += rows.first < last && rows.last > first;
  }
  return {numbers, list.shapes, count};
}

/// Band by band, so that a pair of rows looks only at shapes near it.
template <class Planes, class Shape, class How>
RONDO_PIXELS void each_band(Planes const& to, shape_list<Shape> const& list, How const& how, i32 x, i32 y) {
  constexpr auto columns = columns_of_block<Shape>;
  constexpr i32 most = 1024;
  u32 numbers[most];
  i32 const end = y + tile_side < to.height ? y + tile_side : to.height;
  for (auto band = y; band < end; band += rows_of_band) {
    auto const band_end = band + rows_of_band < end ? band + rows_of_band : end;
    auto const near = list.count > most
                          ? list
                          : those_within(list, static_cast<f32>(band), static_cast<f32>(band_end), numbers);
    if (near.count == 0) continue;
    for (auto row = band; row < band_end; row += 2) {
      if (row + rows_ahead < end) fetch(to, x, row + rows_ahead);
      draw_shapes<columns, tile_side / columns>(to, near, how, x, row);
    }
  }
}

}  // namespace

void empty(layer_planes const& to, i32 x, i32 y) {
  for (auto row = y; row < y + tile_side && row < to.height; ++row)
    for (auto* const plane : {to.red, to.green, to.blue, to.opacities})
      std::memset(plane + row * to.stride + x, 0, tile_side * sizeof *plane);
}

RONDO_CLONES void draw(drawn_planes const& to, shape_list<segment> const& list, stroke_styles const& styles,
                       i32 x, i32 y) {
  each_band(to, list, styles, x, y);
}
RONDO_CLONES void draw(drawn_planes const& to, shape_list<dot_shape> const& list, ink const& colour, i32 x,
                       i32 y) {
  each_band(to, list, colour, x, y);
}
RONDO_CLONES void draw(drawn_planes const& to, shape_list<glyph_shape> const& list, lettering const& how,
                       i32 x, i32 y) {
  each_band(to, list, how, x, y);
}
RONDO_CLONES void draw(drawn_planes const& to, shape_list<box_shape> const& list, no_more how, i32 x, i32 y) {
  each_band(to, list, how, x, y);
}
RONDO_CLONES void draw(layer_planes const& to, shape_list<segment> const& list, stroke_styles const& styles,
                       i32 x, i32 y) {
  each_band(to, list, styles, x, y);
}
RONDO_CLONES void draw(layer_planes const& to, shape_list<dot_shape> const& list, ink const& colour, i32 x,
                       i32 y) {
  each_band(to, list, colour, x, y);
}
RONDO_CLONES void draw(layer_planes const& to, shape_list<glyph_shape> const& list, lettering const& how,
                       i32 x, i32 y) {
  each_band(to, list, how, x, y);
}
RONDO_CLONES void draw(layer_planes const& to, shape_list<box_shape> const& list, no_more how, i32 x, i32 y) {
  each_band(to, list, how, x, y);
}

}  // namespace rondo::video::whole_tiles
