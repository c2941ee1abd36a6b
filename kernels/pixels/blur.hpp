// Gaussian blur of a plane of bytes, in two passes: down, then across. Beyond the edge a plane continues with its outermost sample.
//
// Weights are whole numbers with the sum 256, so that sums of bytes fit into 16 bits, and all devices give the same bytes.
#pragma once

#include "kernels/pixels/portable.hpp"

namespace rondo {
namespace pixels {

enum { most_blur_radius = 8 };

/// weights[k] is for the samples at the distance k.
struct blur_weights {
  i32 radius;
  u16 weights[most_blur_radius + 1];
};

/// One sample down: that of row `y` in column `x`.
template <int Radius>
RONDO_PIXELS void blur_down(RONDO_BUFFER u8* to, RONDO_BUFFER u8 const* from, i32 stride, i32 height, i32 y,
                            i32 width, blur_weights w, i32 first, i32 step) {
  RONDO_BUFFER u8 const* const middle = from + y * stride;
  RONDO_BUFFER u8 const* above[Radius + 1];
  RONDO_BUFFER u8 const* below[Radius + 1];
  for (i32 k = 1; k <= Radius; ++k) {
    above[k] = from + most(y - k, 0) * stride;
    below[k] = from + least(y + k, height - 1) * stride;
  }
  for (i32 x = first; x < width; x += step) {
    u16 sum = static_cast<u16>(128 + middle[x] * w.weights[0]);
    for (i32 k = 1; k <= Radius; ++k)
      sum = static_cast<u16>(sum + static_cast<u16>(above[k][x] + below[k][x]) * w.weights[k]);
    to[x] = static_cast<u8>(sum >> 8);
  }
}

template <int Radius>
RONDO_PIXELS u8 blur_at(RONDO_BUFFER u8 const* from, i32 width, i32 x, blur_weights w) {
  u16 sum = static_cast<u16>(128 + from[x] * w.weights[0]);
  for (i32 k = 1; k <= Radius; ++k)
    sum = static_cast<u16>(sum + static_cast<u16>(from[most(x - k, 0)] + from[least(x + k, width - 1)]) *
                                     w.weights[k]);
  return static_cast<u8>(sum >> 8);
}

/// One row across.
template <int Radius>
RONDO_PIXELS void blur_across(RONDO_BUFFER u8* to, RONDO_BUFFER u8 const* from, i32 width, blur_weights w,
                              i32 first, i32 step) {
  for (i32 x = first; x < least(Radius, width); x += step) to[x] = blur_at<Radius>(from, width, x, w);
  i32 const inner = Radius <= first ? first : first + (Radius - first + step - 1) / step * step;
  i32 x = inner;
  for (; x < width - Radius; x += step) {
    u16 sum = static_cast<u16>(128 + from[x] * w.weights[0]);
    for (i32 k = 1; k <= Radius; ++k)
      sum = static_cast<u16>(sum + static_cast<u16>(from[x - k] + from[x + k]) * w.weights[k]);
    to[x] = static_cast<u8>(sum >> 8);
  }
  for (; x < width; x += step) to[x] = blur_at<Radius>(from, width, x, w);
}

}  // namespace pixels
}  // namespace rondo
