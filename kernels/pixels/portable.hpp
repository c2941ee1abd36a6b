// What all code for pixels shares. It is portable (kernels/portable/language.hpp). Loops go from `first` in steps of
// `step`: a CPU takes each pixel of a row, a lane of a GPU its share.
#pragma once

#include "kernels/portable/language.hpp"

#define RONDO_PIXELS RONDO_PORTABLE

namespace rondo {
namespace pixels {

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef short i16;
typedef int i32;

RONDO_PIXELS i32 least(i32 a, i32 b) { return a < b ? a : b; }
RONDO_PIXELS i32 most(i32 a, i32 b) { return a > b ? a : b; }
RONDO_PIXELS i32 within(i32 x, i32 low, i32 high) { return most(low, least(x, high)); }

/// The first column from `begin` on, not below 0, that belongs to the lane `first` of `step` lanes.
RONDO_PIXELS i32 first_from(i32 begin, i32 first, i32 step) {
  return begin + (first - begin % step + step) % step;
}

/// v / 255, rounded; exact for v up to 255 * 255.
RONDO_PIXELS u16 over_255(u16 v) {
  u16 const t = static_cast<u16>(v + 128);
  return static_cast<u16>(static_cast<u16>(t + (t >> 8)) >> 8);
}
/// `below` under a layer of this opacity, whose value is premultiplied with it.
RONDO_PIXELS u8 over(u8 premultiplied, u8 opacity, u8 below) {
  u16 const rest = over_255(static_cast<u16>(static_cast<u16>(255 - opacity) * below));
  return static_cast<u8>(premultiplied + rest);
}

/// The planes of a frame: brightness, and two of colour.
enum plane_kind { plane_y, plane_u, plane_v };

}  // namespace pixels
}  // namespace rondo
