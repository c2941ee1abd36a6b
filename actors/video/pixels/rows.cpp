// Whole rows of pixels, each function compiled for several instruction sets. The program chooses when it starts.
#include "actors/video/pixels/rows.hpp"

#include "actors/video/pixels/clones.hpp"

namespace rondo::video::whole_rows {

RONDO_CLONES void pattern(u8* to, pixels::plane_kind plane, pixels::pattern_shape const& s, i32 y) {
  pixels::pattern_row(to, plane, s, y, 0, 1);
}

// One function for each radius: the loop over the weights then has a fixed length, and is unrolled.
#define RONDO_BLUR(R)                                                                                     \
  RONDO_CLONES static void down_##R(u8* __restrict to, u8 const* __restrict from, i32 stride, i32 height, \
                                    i32 y, i32 width, pixels::blur_weights const& w) {                    \
    pixels::blur_down<R>(to, from, stride, height, y, width, w, 0, 1);                                    \
  }                                                                                                       \
  RONDO_CLONES static void across_##R(u8* __restrict to, u8 const* __restrict from, i32 width,            \
                                      pixels::blur_weights const& w) {                                    \
    pixels::blur_across<R>(to, from, width, w, 0, 1);                                                     \
  }
RONDO_BLUR(1)
RONDO_BLUR(2)
RONDO_BLUR(3)
RONDO_BLUR(4)
RONDO_BLUR(5)
RONDO_BLUR(6)
RONDO_BLUR(7)
RONDO_BLUR(8)
#undef RONDO_BLUR

void blur_down(u8* to, u8 const* from, i32 stride, i32 height, i32 y, i32 width,
               pixels::blur_weights const& w) {
  static constexpr decltype(&down_1) by_radius[] = {down_1, down_2, down_3, down_4,
                                                    down_5, down_6, down_7, down_8};
  by_radius[w.radius - 1](to, from, stride, height, y, width, w);
}
void blur_across(u8* to, u8 const* from, i32 width, pixels::blur_weights const& w) {
  static constexpr decltype(&across_1) by_radius[] = {across_1, across_2, across_3, across_4,
                                                      across_5, across_6, across_7, across_8};
  by_radius[w.radius - 1](to, from, width, w);
}

RONDO_CLONES void layer(u8* __restrict to, u8 const* __restrict layer, u8 const* __restrict opacity,
                        i32 opacity_step, i32 stride, i32 width) {
  pixels::layer_row(to, layer, opacity, opacity_step, stride, width, 0, 1);
}
RONDO_CLONES void blend(pixels::drawn_planes const& to, pixels::drawn_planes const& layer,
                        pixels::blending const& how, i32 y) {
  pixels::blend_rows(to, layer, how, y, 0, 1);
}
RONDO_CLONES void blend(pixels::drawn_planes const& to, pixels::layer_planes const& layer,
                        pixels::blending const& how, i32 y) {
  pixels::blend_rows(to, layer, how, y, 0, 1);
}
RONDO_CLONES void mask(u8* __restrict to, u8 const* __restrict mask, u8 value, i32 width) {
  pixels::mask_row(to, mask, value, width, 0, 1);
}
RONDO_CLONES void band(u8* __restrict to, u16 const* __restrict low, u16 const* __restrict high,
                       i32 column_step, u16 y, pixels::band_colours const& colours, i32 width) {
  pixels::band_row(to, low, high, column_step, y, colours, width, 0, 1);
}
RONDO_CLONES void subtract(pixels::background_rows const& r, pixels::background_limits const& limits) {
  pixels::subtract_row(r, limits, 0, 1);
}

}  // namespace rondo::video::whole_rows
