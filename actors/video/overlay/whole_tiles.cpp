// CMakeLists.txt compiles this file with options with which its loops of a fixed length are vectorised.
#include "actors/video/overlay/whole_tiles.hpp"

#include "actors/video/pixels/clones.hpp"

namespace rondo::video::whole_tiles {

using namespace pixels;

namespace {
constexpr i32 columns = 16, blocks = tile_side / columns;
}

RONDO_CLONES void strokes(drawn_planes const& to, shape_list<segment> const& list, stroke_styles styles,
                          i32 x, i32 y) {
  for (i32 row = y; row < y + tile_side && row < to.height; row += 2)
    draw_strokes<columns, blocks>(to, list, styles, x, row);
}
RONDO_CLONES void dots(drawn_planes const& to, shape_list<dot_shape> const& list, ink const& k, i32 x,
                       i32 y) {
  for (i32 row = y; row < y + tile_side && row < to.height; row += 2)
    draw_dots<columns, blocks>(to, list, k, x, row);
}
RONDO_CLONES void glyphs(drawn_planes const& to, shape_list<glyph_shape> const& list, u8 const* atlas,
                         ink const& k, i32 x, i32 y) {
  for (i32 row = y; row < y + tile_side && row < to.height; row += 2)
    draw_glyphs<columns, blocks>(to, list, atlas, k, x, row);
}
RONDO_CLONES void boxes(drawn_planes const& to, shape_list<box_shape> const& list, i32 x, i32 y) {
  for (i32 row = y; row < y + tile_side && row < to.height; row += 2)
    draw_boxes<columns, blocks>(to, list, x, row);
}

}  // namespace rondo::video::whole_tiles
