// One row of a background model, which is compared with a picture, and learns from it
// (actors/video/movement/background.hpp).
//
// All arithmetic is 16-bit integer (grey levels times 64), so that every device computes the same. Conditions are
// masks, -1 for true and 0 for false, and selections are bit operations: compilers vectorise this.
#pragma once

#include "kernels/pixels/portable.hpp"

namespace rondo {
namespace pixels {

/// Thresholds are in grey levels, times in frames: see background_params.
struct background_limits {
  i16 luma_threshold, chroma_threshold, noise_factor, shadow_floor, shadow_chroma, confidence_limit;
};

RONDO_PIXELS i16 s16(i32 value) { return static_cast<i16>(value); }
RONDO_PIXELS i16 abs16(i16 a) { return s16(a < 0 ? -a : a); }
RONDO_PIXELS i16 min16(i16 a, i16 b) { return a < b ? a : b; }
RONDO_PIXELS i16 max16(i16 a, i16 b) { return a > b ? a : b; }
RONDO_PIXELS i16 at_most(i16 a, i16 b) { return s16(-(a <= b)); }
RONDO_PIXELS i16 pick(i16 condition, i16 a, i16 b) { return s16(b ^ ((a ^ b) & condition)); }

/// Luma of half-resolution pixel i, times 64.
RONDO_PIXELS i16 half_luma(RONDO_BUFFER u8 const* y0, RONDO_BUFFER u8 const* y1, i32 i) {
  return s16((y0[2 * i] + y0[2 * i + 1] + y1[2 * i] + y1[2 * i + 1]) << 4);
}

/// The rows of a picture and of its model, all of the same `width`, but `y0` and `y1`, which have two samples for each.
struct background_rows {
  RONDO_BUFFER u8 const* y0;
  RONDO_BUFFER u8 const* y1;
  RONDO_BUFFER u8 const* u;
  RONDO_BUFFER u8 const* v;
  RONDO_BUFFER i16* mean_y;
  RONDO_BUFFER i16* mean_u;
  RONDO_BUFFER i16* mean_v;
  RONDO_BUFFER i16* confidence;
  RONDO_BUFFER i16* next_y;
  RONDO_BUFFER i16* next_u;
  RONDO_BUFFER i16* next_v;
  RONDO_BUFFER i16* next_confidence;
  RONDO_BUFFER i16* deviation;
  RONDO_BUFFER u8* mask;
  i32 width;
};

/// Initialises a row of the model from the picture's rows, and clears the mask.
RONDO_PIXELS void learn_row(background_rows r, i32 first, i32 step) {
  for (i32 i = first; i < r.width; i += step) {
    r.mean_y[i] = r.next_y[i] = half_luma(r.y0, r.y1, i);
    r.mean_u[i] = r.next_u[i] = s16(r.u[i] << 6);
    r.mean_v[i] = r.next_v[i] = s16(r.v[i] << 6);
    r.confidence[i] = 1;
    r.next_confidence[i] = 0;
    r.deviation[i] = 2 * 64;
    r.mask[i] = 0;
  }
}

/// See subtract_row; compilers are told that the rows do not overlap.
RONDO_PIXELS void subtract_columns(
    i32 width, background_limits p, RONDO_BUFFER u8 const* RONDO_RESTRICT y0,
    RONDO_BUFFER u8 const* RONDO_RESTRICT y1, RONDO_BUFFER u8 const* RONDO_RESTRICT us,
    RONDO_BUFFER u8 const* RONDO_RESTRICT vs, RONDO_BUFFER i16* RONDO_RESTRICT mean_y,
    RONDO_BUFFER i16* RONDO_RESTRICT mean_u, RONDO_BUFFER i16* RONDO_RESTRICT mean_v,
    RONDO_BUFFER i16* RONDO_RESTRICT confidence, RONDO_BUFFER i16* RONDO_RESTRICT next_y,
    RONDO_BUFFER i16* RONDO_RESTRICT next_u, RONDO_BUFFER i16* RONDO_RESTRICT next_v,
    RONDO_BUFFER i16* RONDO_RESTRICT next_confidence, RONDO_BUFFER i16* RONDO_RESTRICT deviation,
    RONDO_BUFFER u8* RONDO_RESTRICT mask, i32 first, i32 step) {
  i16 const luma_min = s16(p.luma_threshold * 64), chroma_max = s16(p.chroma_threshold * 64);
  i16 const shadow_chroma = s16(p.shadow_chroma * 64), limit = p.confidence_limit;
  i16 const known_again = s16(limit * 3 / 8);
  i16 const shadow_floor = p.shadow_floor;
  for (i32 i = first; i < width; i += step) {
    i16 const y = half_luma(y0, y1, i), u = s16(us[i] << 6), v = s16(vs[i] << 6);
    i16 const ay = mean_y[i], au = mean_u[i], av = mean_v[i], an = confidence[i];
    i16 const by = next_y[i], bu = next_u[i], bv = next_v[i], bn = next_confidence[i];
    i16 const dev = deviation[i];

    i16 const luma_max = max16(luma_min, s16(dev * p.noise_factor));
    i16 const dy = s16(y - ay), du = s16(u - au), dv = s16(v - av);
    i16 const chroma = s16(abs16(du) + abs16(dv));
    i16 const a = s16(at_most(abs16(dy), luma_max) & at_most(chroma, chroma_max));
    i16 const ey = s16(y - by), eu = s16(u - bu), ev = s16(v - bv);
    i16 const b_chroma = s16(abs16(eu) + abs16(ev));
    i16 const b = s16(~a & at_most(abs16(ey), luma_max) & at_most(b_chroma, chroma_max));
    i16 const shade = s16((ay >> 6) * shadow_floor);
    i16 const shadow = s16(at_most(dy, -1) & at_most(shade, y) & at_most(chroma, shadow_chroma));

    // Rates: the background follows at 1/32 per frame, the candidate at 1/8.
    i16 const ay2 = s16(ay + (a & ((dy + 16) >> 5))), au2 = s16(au + (a & ((du + 16) >> 5)));
    i16 const av2 = s16(av + (a & ((dv + 16) >> 5)));
    i16 const an2 = pick(a, min16(s16(an + 1), limit), max16(s16(an - 1), 0));
    i16 const dev2 = min16(s16(dev + (a & ((abs16(dy) - dev + 16) >> 5))), 8 * 64);
    i16 const fresh = s16(~a & ~b & at_most(bn, 1));
    i16 const by2 = pick(fresh, y, s16(by + (b & ((ey + 4) >> 3))));
    i16 const bu2 = pick(fresh, u, s16(bu + (b & ((eu + 4) >> 3))));
    i16 const bv2 = pick(fresh, v, s16(bv + (b & ((ev + 4) >> 3))));
    i16 const bn_seen = pick(b, min16(s16(bn + 1), limit), max16(s16(bn - 1), 1));
    i16 const bn2 = pick(a, bn, bn_seen);

    i16 const stay = at_most(bn2, an2);
    mean_y[i] = pick(stay, ay2, by2);
    mean_u[i] = pick(stay, au2, bu2);
    mean_v[i] = pick(stay, av2, bv2);
    confidence[i] = pick(stay, an2, bn2);
    next_y[i] = pick(stay, by2, ay2);
    next_u[i] = pick(stay, bu2, au2);
    next_v[i] = pick(stay, bv2, av2);
    next_confidence[i] = pick(stay, bn2, an2);
    deviation[i] = dev2;
    mask[i] = static_cast<u8>(~a & ~shadow & ~(b & at_most(known_again, bn)) & 1);
  }
}
/// Compares the picture's rows with a row of the model, updates it, and sets the mask to 1 where they differ, else to
/// 0.
RONDO_PIXELS void subtract_row(background_rows r, background_limits p, i32 first, i32 step) {
  subtract_columns(r.width, p, r.y0, r.y1, r.u, r.v, r.mean_y, r.mean_u, r.mean_v, r.confidence, r.next_y,
                   r.next_u, r.next_v, r.next_confidence, r.deviation, r.mask, first, step);
}

}  // namespace pixels
}  // namespace rondo
