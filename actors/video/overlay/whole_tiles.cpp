// CMakeLists.txt compiles this file with options with which its loops of a fixed length are vectorised.
#include "actors/video/overlay/whole_tiles.hpp"

#include "actors/video/pixels/clones.hpp"

namespace rondo::video::whole_tiles {

using namespace pixels;

namespace {

constexpr i32 columns = 16, blocks = tile_side / columns;

template <class Shape, class How>
RONDO_PIXELS void each_pair_of_rows(drawn_planes const& to, shape_list<Shape> const& list, How const& how,
                                    i32 x, i32 y) {
  for (i32 row = y; row < y + tile_side && row < to.height; row += 2)
    draw_shapes<columns, blocks>(to, list, how, x, row);
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
