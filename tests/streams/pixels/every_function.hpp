// Calls every function of kernels/pixels once, with the address spaces of the compiler that reads it.
#pragma once

#include "kernels/pixels/background.hpp"
#include "kernels/pixels/blur.hpp"
#include "kernels/pixels/draw.hpp"
#include "kernels/pixels/layer.hpp"
#include "kernels/pixels/pattern.hpp"

namespace rondo {
namespace pixels {

RONDO_PIXELS void every_function(RONDO_BUFFER u8* to, RONDO_BUFFER u8 const* from,
                                 RONDO_BUFFER u16 const* lines, RONDO_BUFFER i16* model,
                                 RONDO_BUFFER draw_list const* list, i32 width, i32 height, i32 stride,
                                 blur_weights w, i32 y, i32 first, i32 step) {
  pattern_row(to, plane_y, pattern_for(width, height, 1, 7), y, first, step);
  blur_down<4>(to, from, stride, height, y, width, w, first, step);
  blur_across<4>(to, from, width, w, first, step);
  layer_row(to, from, from, 2, width, first, step);
  mask_row(to, from, 1, 200, width, first, step);
  band_colours const colours = {200, 220, 16, 90};
  band_row(to, lines, lines, 1, static_cast<u16>(y), colours, width, first, step);
  background_rows const rows = {from,  from,  from,  from,  model, model, model, model,
                                model, model, model, model, model, to,    width};
  background_limits const limits = {15, 13, 5, 42, 7, 900};
  learn_row(rows, first, step);
  subtract_row(rows, limits, first, step);
  drawn_planes const planes = {to, to, to, stride, stride, width, height};
  draw_row(planes, list, y, first, step);
}

}  // namespace pixels
}  // namespace rondo
