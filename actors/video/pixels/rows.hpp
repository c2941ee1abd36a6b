// Rows of pixels on the device that runs a stage: kernels/pixels, for a lane's share of a row on a GPU, or for a whole
// row on a host, where the widest instructions of the processor are used.
#pragma once

#include "kernels/base/team.hpp"
#include "kernels/pixels/background.hpp"
#include "kernels/pixels/blur.hpp"
#include "kernels/pixels/layer.hpp"
#include "kernels/pixels/overlay/blend.hpp"
#include "kernels/pixels/pattern.hpp"

namespace rondo::video {

using pixels::i32;
using pixels::u16;
using pixels::u8;

/// Compiled for several instruction sets (rows.cpp); a whole row each.
namespace whole_rows {
void pattern(u8* to, pixels::plane_kind plane, pixels::pattern_shape const& s, i32 y);
void blur_down(u8* to, u8 const* from, i32 stride, i32 height, i32 y, i32 width,
               pixels::blur_weights const& w);
void blur_across(u8* to, u8 const* from, i32 width, pixels::blur_weights const& w);
void layer(u8* to, u8 const* layer, u8 const* opacity, i32 opacity_step, i32 stride, i32 width);
void blend(pixels::drawn_planes const& to, pixels::drawn_planes const& layer, pixels::blending const& how,
           i32 y);
void blend(pixels::drawn_planes const& to, pixels::layer_planes const& layer, pixels::blending const& how,
           i32 y);
void mask(u8* to, u8 const* mask, u8 value, i32 width);
void band(u8* to, u16 const* low, u16 const* high, i32 column_step, u16 y,
          pixels::band_colours const& colours, i32 width);
void subtract(pixels::background_rows const& r, pixels::background_limits const& limits);
}  // namespace whole_rows

/// Calls f(std::integral_constant<int, radius>{}).
template <class F>
RONDO_HD void with_radius(i32 radius, F const& f) {
  switch (radius) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 3:
      return f(std::integral_constant<int, 3>{});
    case 4:
      return f(std::integral_constant<int, 4>{});
    case 5:
      return f(std::integral_constant<int, 5>{});
    case 6:
      return f(std::integral_constant<int, 6>{});
    case 7:
      return f(std::integral_constant<int, 7>{});
    default:
      return f(std::integral_constant<int, 8>{});
  }
}

/// A lane's view of the rows that its team works on. Calls, so that nvcc does not compile them once per use.
class rows {
 public:
  RONDO_HD explicit rows(team const& t) noexcept
      : rows(static_cast<i32>(t.lane()), static_cast<i32>(t.lanes())) {}
  RONDO_HD rows(i32 lane, i32 lanes) noexcept : first_(lane), step_(lanes) {}

  RONDO_CALL RONDO_HD void pattern(u8* to, pixels::plane_kind plane, pixels::pattern_shape const& s,
                                   i32 y) const {
#if !defined(__CUDA_ARCH__)
    if (step_ == 1) return whole_rows::pattern(to, plane, s, y);
#endif
    pixels::pattern_row(to, plane, s, y, first_, step_);
  }
  RONDO_CALL RONDO_HD void blur_down(u8* to, u8 const* from, i32 stride, i32 height, i32 y, i32 width,
                                     pixels::blur_weights const& w) const {
#if !defined(__CUDA_ARCH__)
    if (step_ == 1) return whole_rows::blur_down(to, from, stride, height, y, width, w);
#endif
    with_radius(w.radius, [&](auto radius) {
      pixels::blur_down<decltype(radius)::value>(to, from, stride, height, y, width, w, first_, step_);
    });
  }
  RONDO_CALL RONDO_HD void blur_across(u8* to, u8 const* from, i32 width,
                                       pixels::blur_weights const& w) const {
#if !defined(__CUDA_ARCH__)
    if (step_ == 1) return whole_rows::blur_across(to, from, width, w);
#endif
    with_radius(w.radius, [&](auto radius) {
      pixels::blur_across<decltype(radius)::value>(to, from, width, w, first_, step_);
    });
  }
  RONDO_CALL RONDO_HD void layer(u8* to, u8 const* layer, u8 const* opacity, i32 opacity_step, i32 stride,
                                 i32 width) const {
#if !defined(__CUDA_ARCH__)
    if (step_ == 1) return whole_rows::layer(to, layer, opacity, opacity_step, stride, width);
#endif
    pixels::layer_row(to, layer, opacity, opacity_step, stride, width, first_, step_);
  }
  /// Two rows, from an even one on.
  RONDO_EITHER_SIDE
  template <class Layer>
  RONDO_CALL RONDO_HD void blend(pixels::drawn_planes const& to, Layer const& layer,
                                 pixels::blending const& how, i32 y) const {
#if !defined(__CUDA_ARCH__)
    if (step_ == 1) return whole_rows::blend(to, layer, how, y);
#endif
    pixels::blend_rows(to, layer, how, y, first_, step_);
  }
  RONDO_CALL RONDO_HD void band(u8* to, u16 const* low, u16 const* high, i32 column_step, u16 y,
                                pixels::band_colours const& colours, i32 width) const {
#if !defined(__CUDA_ARCH__)
    if (step_ == 1) return whole_rows::band(to, low, high, column_step, y, colours, width);
#endif
    pixels::band_row(to, low, high, column_step, y, colours, width, first_, step_);
  }
  RONDO_CALL RONDO_HD void subtract(pixels::background_rows const& r,
                                    pixels::background_limits const& limits) const {
#if !defined(__CUDA_ARCH__)
    if (step_ == 1) return whole_rows::subtract(r, limits);
#endif
    pixels::subtract_row(r, limits, first_, step_);
  }

 private:
  i32 first_, step_;
};

}  // namespace rondo::video
