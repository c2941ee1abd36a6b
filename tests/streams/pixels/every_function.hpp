// Calls every function of kernels/pixels once, with the address spaces of the compiler that reads it.
#pragma once

#include "kernels/pixels/background.hpp"
#include "kernels/pixels/blur.hpp"
#include "kernels/pixels/draw.hpp"
#include "kernels/pixels/layer.hpp"
#include "kernels/pixels/overlay/blend.hpp"
#include "kernels/pixels/overlay/boxes.hpp"
#include "kernels/pixels/overlay/dots.hpp"
#include "kernels/pixels/overlay/glyphs.hpp"
#include "kernels/pixels/overlay/strokes.hpp"
#include "kernels/pixels/pattern.hpp"

namespace rondo {
namespace pixels {

/// All steps with shapes: into bins, and onto a tile.
template <class Planes, class Shape, class How>
RONDO_PIXELS void every_step(Planes planes, bin_tables bins, RONDO_BUFFER Shape* shapes, Shape s, How how,
                             i32 x, i32 y) {
  tile_grid const grid = tiles_of(planes.width, planes.height);
  shapes[0] = s;
  clear_counts(bins, 0);
  tile_range const rows = tile_rows_of(s, grid);
  for (i32 row = rows.first; row < rows.last; ++row)
    count_in(bins, 0, row * grid.columns, tile_columns_of(s, grid, row));
  sum_counts(bins);
  for (i32 row = rows.first; row < rows.last; ++row)
    put_into(bins, 0, row * grid.columns, tile_columns_of(s, grid, row), 0);
  shape_list<Shape> const list = {bins.shapes, shapes, 1};
  draw_shapes<16, 4>(planes, list, how, x, y);
  draw_shapes<2, 1>(planes, list, how, x, y);
}

RONDO_PIXELS void every_function(RONDO_BUFFER u8* to, RONDO_BUFFER u8 const* from,
                                 RONDO_BUFFER u16 const* lines, RONDO_BUFFER i16* model,
                                 RONDO_BUFFER draw_list const* list, RONDO_BUFFER letter_book const* book,
                                 i32 width, i32 height, i32 stride, blur_weights w, i32 y, i32 first,
                                 i32 step) {
  pattern_row(to, plane_y, pattern_for(width, height, 1, 7), y, first, step);
  blur_down<4>(to, from, stride, height, y, width, w, first, step);
  blur_across<4>(to, from, width, w, first, step);
  layer_row(to, from, from, 2, width, width, first, step);
  mask_row(to, from, 200, width, first, step);
  band_colours const colours = {200, 220, 16, 90};
  band_row(to, lines, lines, 1, static_cast<u16>(y), colours, width, first, step);
  background_rows const rows = {from,  from,  from,  from,  model, model, model, model,
                                model, model, model, model, model, to,    width};
  background_limits const limits = {15, 13, 5, 42, 7, 900};
  learn_row(rows, first, step);
  subtract_row(rows, limits, first, step);
  drawn_planes const planes = {to, to, to, stride, stride, width, height};
  draw_row(planes, list, book, y, first, step);
  RONDO_BUFFER u32* const words = reinterpret_cast<RONDO_BUFFER u32*>(model);
  bin_tables const bins = {words, words, words, words, 1, 1};
  ink const colour = {200, 90, 160, 0.5f};
  stroke_style const style = {colour, 2, 1, end_square, 1};
  RONDO_BUFFER stroke_style* const styles = reinterpret_cast<RONDO_BUFFER stroke_style*>(model);
  styles[0] = style;
  stroke_styles const strokes = {styles, 1};
  every_step(planes, bins, reinterpret_cast<RONDO_BUFFER segment*>(model),
             segment_between(1, 2, 3, 4, reach_of(style), 0), strokes, first, y);
  dot_shape const dot = {1, 2, 3, 0.5f};
  every_step(planes, bins, reinterpret_cast<RONDO_BUFFER dot_shape*>(model), dot, colour, first, y);
  glyph_shape const letter = {1, 2, 3, 4, 0};
  lettering const letters = {from, colour};
  every_step(planes, bins, reinterpret_cast<RONDO_BUFFER glyph_shape*>(model), letter, letters, first, y);
  box_shape const box = {1, 2, 3, 4, 1, 1, colour, colour};
  no_more const nothing = {};
  every_step(planes, bins, reinterpret_cast<RONDO_BUFFER box_shape*>(model), box, nothing, first, y);
  RONDO_BUFFER u16* const halves = reinterpret_cast<RONDO_BUFFER u16*>(to);
  layer_planes const layer = {halves, halves, halves, halves, stride, width, height, {to, 1, 0, 0}};
  every_step(layer, bins, reinterpret_cast<RONDO_BUFFER box_shape*>(model), box, nothing, first, y);
  every_step(layer, bins, reinterpret_cast<RONDO_BUFFER segment*>(model),
             segment_between(1, 2, 3, 4, reach_of(style), 0), strokes, first, y);
  blending const how = {first, {0.2f, 0.7f, 0.1f, 16, 219, 120, 140}};
  blend_rows(planes, layer, how, y, first, step);
  blend_rows(planes, planes, how, y, first, step);
}

}  // namespace pixels
}  // namespace rondo
