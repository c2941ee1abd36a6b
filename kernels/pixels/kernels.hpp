// The work on planes of pixels as portable kernels: a row of work is a row of a plane.
#pragma once

#include "kernels/pixels/blur.hpp"
#include "kernels/pixels/pattern.hpp"
#include "kernels/portable/kernel.hpp"

namespace rondo {
namespace pixels {

/// Where a plane is in its buffer: its first byte, and the bytes from row to row.
struct plane_place {
  u32 at;
  i32 stride;
};

/// Row y of a plane.
RONDO_PIXELS RONDO_BUFFER u8* row_of(RONDO_BUFFER u8* buffer, plane_place p, i32 y) {
  return buffer + p.at + y * p.stride;
}

/// Of a test pattern, into buffer 0.
struct pattern_work {
  plane_place to;
  i32 plane;  // a plane_kind
  pattern_shape shape;
};
RONDO_PIXELS void draw_pattern(RONDO_BUFFER u8* to, RONDO_BUFFER u8*, RONDO_BUFFER u8*, RONDO_BUFFER u8*,
                               pattern_work a, work_item at) {
  pattern_row(row_of(to, a.to, at.row), static_cast<plane_kind>(a.plane), a.shape, at.row, at.lane, at.lanes);
}
RONDO_KERNEL(draw_pattern, pattern_work);

/// Of one pass of a blur, from buffer 1 to buffer 0.
struct blur_work {
  plane_place to, from;
  i32 width, height;
  blur_weights weights;
};

/// Calls one of a macro's functions, which are for even radii: a weight beyond the blur's own radius is 0, and half as
/// much code is compiled where the program starts.
#define RONDO_WITH_RADIUS(radius, call) \
  switch (((radius) + 1) / 2) {         \
    case 1:                             \
      return call(2);                   \
    case 2:                             \
      return call(4);                   \
    case 3:                             \
      return call(6);                   \
    default:                            \
      return call(8);                   \
  }

RONDO_PIXELS void blur_rows_down(RONDO_BUFFER u8* to, RONDO_BUFFER u8* from, RONDO_BUFFER u8*,
                                 RONDO_BUFFER u8*, blur_work a, work_item at) {
#define RONDO_DOWN(radius)                                                                                \
  blur_down<radius>(row_of(to, a.to, at.row), from + a.from.at, a.from.stride, a.height, at.row, a.width, \
                    a.weights, at.lane, at.lanes)
  RONDO_WITH_RADIUS(a.weights.radius, RONDO_DOWN);
#undef RONDO_DOWN
}
RONDO_KERNEL(blur_rows_down, blur_work);

RONDO_PIXELS void blur_rows_across(RONDO_BUFFER u8* to, RONDO_BUFFER u8* from, RONDO_BUFFER u8*,
                                   RONDO_BUFFER u8*, blur_work a, work_item at) {
#define RONDO_ACROSS(radius)                                                                               \
  blur_across<radius>(row_of(to, a.to, at.row), row_of(from, a.from, at.row), a.width, a.weights, at.lane, \
                      at.lanes)
  RONDO_WITH_RADIUS(a.weights.radius, RONDO_ACROSS);
#undef RONDO_ACROSS
}
RONDO_KERNEL(blur_rows_across, blur_work);

#undef RONDO_WITH_RADIUS

}  // namespace pixels
}  // namespace rondo
