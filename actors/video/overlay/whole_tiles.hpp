// Tiles that one thread of a host draws, compiled for several instruction sets (whole_tiles.cpp). (x, y) is the upper
// left pixel of a tile.
#pragma once

#include "kernels/pixels/boxes.hpp"
#include "kernels/pixels/dots.hpp"
#include "kernels/pixels/glyphs.hpp"
#include "kernels/pixels/strokes.hpp"

namespace rondo::video::whole_tiles {

void strokes(pixels::drawn_planes const& to, pixels::shape_list<pixels::segment> const& list,
             pixels::stroke_styles styles, pixels::i32 x, pixels::i32 y);
void dots(pixels::drawn_planes const& to, pixels::shape_list<pixels::dot_shape> const& list,
          pixels::ink const& k, pixels::i32 x, pixels::i32 y);
void glyphs(pixels::drawn_planes const& to, pixels::shape_list<pixels::glyph_shape> const& list,
            pixels::u8 const* atlas, pixels::ink const& k, pixels::i32 x, pixels::i32 y);
void boxes(pixels::drawn_planes const& to, pixels::shape_list<pixels::box_shape> const& list, pixels::i32 x,
           pixels::i32 y);

}  // namespace rondo::video::whole_tiles
