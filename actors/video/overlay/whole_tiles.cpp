// CMakeLists.txt compiles this file with options with which its loops of a fixed length are vectorised.
#include "actors/video/overlay/whole_tiles.hpp"

#include "actors/video/pixels/clones.hpp"

namespace rondo::video::whole_tiles {

using namespace pixels;

namespace {

// Lines are narrow.
template <class Shape>
constexpr i32 columns_of_block = 16;
template <>
constexpr i32 columns_of_block<segment> = 8;
constexpr i32 rows_ahead = 4;

/// Begins to load what lies in a tile's rows row and row + 1. The processor does not foresee a tile: each row is a line
/// of the cache, and far from the one above.
RONDO_PIXELS void fetch(drawn_planes const& to, i32 x, i32 row) {
  __builtin_prefetch(to.y + row * to.stride + x, 1);
  __builtin_prefetch(to.y + (row + 1) * to.stride + x, 1);
  __builtin_prefetch(to.u + row / 2 * to.colour_stride + x / 2, 1);
  __builtin_prefetch(to.v + row / 2 * to.colour_stride + x / 2, 1);
}

template <class Shape, class How>
RONDO_PIXELS void each_pair_of_rows(drawn_planes const& to, shape_list<Shape> const& list, How const& how,
                                    i32 x, i32 y) {
  constexpr auto columns = columns_of_block<Shape>;
  i32 const end = y + tile_side < to.height ? y + tile_side : to.height;
  for (i32 row = y; row < end; row += 2) {
    if (row + rows_ahead < end) fetch(to, x, row + rows_ahead);
    draw_shapes<columns, tile_side / columns>(to, list, how, x, row);
  }
}

}  // namespace

RONDO_CLONES void draw(drawn_planes const& to, shape_list<segment> const& list, stroke_styles const& styles,
                       i32 x, i32 y) {
  each_pair_of_rows(to, list, styles, x, y);
}
RONDO_CLONES void draw(drawn_planes const& to, shape_list<dot_shape> const& list, ink const& colour, i32 x,
                       i32 y) {
  each_pair_of_rows(to, list, colour, x, y);
}
RONDO_CLONES void draw(drawn_planes const& to, shape_list<glyph_shape> const& list, lettering const& how,
                       i32 x, i32 y) {
  each_pair_of_rows(to, list, how, x, y);
}
RONDO_CLONES void draw(drawn_planes const& to, shape_list<box_shape> const& list, no_more how, i32 x, i32 y) {
  each_pair_of_rows(to, list, how, x, y);
}

}  // namespace rondo::video::whole_tiles
