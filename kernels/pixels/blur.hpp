// Gaussian blur of a plane of bytes, in two passes: down, then across. Beyond the edge a plane continues with its
// outermost sample.
//
// Weights are whole numbers with the sum 256, so that sums of bytes fit into 16 bits, and all devices give the same
// bytes.
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

/// 65536 * exp(-t / 256), a little less exact than its last bits, but the same on all devices.
RONDO_PIXELS u32 falling_exp(u32 t) {
  u32 const u = t * 369u >> 8;  // t / 256 * log2(e), with 8 bits behind the point
  u32 const f = u & 255u, n = u >> 8;
  if (n >= 16) return 0;
  return (65536u - (45426u * f >> 8) + (15743u * f * f >> 16) - (3638u * (f * f >> 8) * f >> 16)) >> n;
}

/// Of a Gaussian with this sigma, in 64ths of a sample: 1 to 256. Samples farther than 3 sigma, or 8 samples, count as
/// nothing.
RONDO_PIXELS blur_weights gaussian_weights(u32 sigma_64) {
  blur_weights w;
  u32 exact[most_blur_radius + 1];
  u32 sum = 65536;
  w.radius = within(static_cast<i32>((3 * sigma_64 + 32) / 64), 1, most_blur_radius);
  for (i32 k = 1; k <= most_blur_radius; ++k) {
    exact[k] = k > w.radius ? 0 : falling_exp(static_cast<u32>(k * k) * (1u << 19) / (sigma_64 * sigma_64));
    sum += 2 * exact[k];
  }
  i32 rest = 256;
  for (i32 k = 1; k <= most_blur_radius; ++k) {
    w.weights[k] = static_cast<u16>((256 * exact[k] + sum / 2) / sum);
    rest -= 2 * w.weights[k];
  }
  w.weights[0] = static_cast<u16>(rest);
  while (w.radius > 1 && w.weights[w.radius] == 0) --w.radius;
  return w;
}

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
