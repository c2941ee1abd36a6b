// Tiles that one thread of a host draws, compiled for several instruction sets (whole_tiles.cpp). (x, y) is the upper
// left pixel of a tile.
#pragma once

#include "kernels/pixels/overlay/boxes.hpp"
#include "kernels/pixels/overlay/dots.hpp"
#include "kernels/pixels/overlay/glyphs.hpp"
#include "kernels/pixels/overlay/strokes.hpp"

namespace rondo::video::whole_tiles {

/// Samples of nothing.
inline void empty(pixels::drawn_planes const&, pixels::i32, pixels::i32) {}
void empty(pixels::layer_planes const& to, pixels::i32 x, pixels::i32 y);

void draw(pixels::drawn_planes const& to, pixels::shape_list<pixels::segment> const& list,
          pixels::stroke_styles const& styles, pixels::i32 x, pixels::i32 y);
void draw(pixels::drawn_planes const& to, pixels::shape_list<pixels::dot_shape> const& list,
          pixels::ink const& colour, pixels::i32 x, pixels::i32 y);
void draw(pixels::drawn_planes const& to, pixels::shape_list<pixels::glyph_shape> const& list,
          pixels::lettering const& how, pixels::i32 x, pixels::i32 y);
void draw(pixels::drawn_planes const& to, pixels::shape_list<pixels::box_shape> const& list, pixels::no_more,
          pixels::i32 x, pixels::i32 y);
void draw(pixels::layer_planes const& to, pixels::shape_list<pixels::segment> const& list,
          pixels::stroke_styles const& styles, pixels::i32 x, pixels::i32 y);
void draw(pixels::layer_planes const& to, pixels::shape_list<pixels::dot_shape> const& list,
          pixels::ink const& colour, pixels::i32 x, pixels::i32 y);
void draw(pixels::layer_planes const& to, pixels::shape_list<pixels::glyph_shape> const& list,
          pixels::lettering const& how, pixels::i32 x, pixels::i32 y);
void draw(pixels::layer_planes const& to, pixels::shape_list<pixels::box_shape> const& list, pixels::no_more,
          pixels::i32 x, pixels::i32 y);

}  // namespace rondo::video::whole_tiles
