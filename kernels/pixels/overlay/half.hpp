// Numbers of sixteen bits with a floating point (IEEE 754 binary16), as layers store them. Finite ones only; to the
// nearest number, and between two to the even one.
#pragma once

#include "kernels/pixels/portable.hpp"

namespace rondo {
namespace pixels {

typedef float f32;

RONDO_PIXELS u32 bits_of(f32 a) {
#if defined(__OPENCL_CPP_VERSION__)
  return as_uint(a);
#elif defined(__METAL_VERSION__)
  return as_type<u32>(a);
#else
  u32 bits;
  __builtin_memcpy(&bits, &a, sizeof bits);
  return bits;
#endif
}
RONDO_PIXELS f32 from_bits(u32 bits) {
#if defined(__OPENCL_CPP_VERSION__)
  return as_float(bits);
#elif defined(__METAL_VERSION__)
  return as_type<f32>(bits);
#else
  f32 a;
  __builtin_memcpy(&a, &bits, sizeof a);
  return a;
#endif
}

/// Without branches, so that loops over it are vectorised. What is too small for a number with all its digits, below
/// 2^-14, is a multiple of 2^-24.
RONDO_PIXELS f32 from_half(u16 h) {
  u32 const size = h & 0x7fffu;
  f32 const usual = from_bits((size << 13) + (112u << 23));
  f32 const small = static_cast<f32>(static_cast<i32>(size)) * (1.0f / 16777216);
  f32 const found = size < 0x0400u ? small : usual;
  return (h & 0x8000u) != 0 ? -found : found;
}
/// What is larger than 65504, the largest one, becomes that.
RONDO_PIXELS u16 to_half(f32 a) {
  u32 const all = bits_of(a), sign = all >> 16 & 0x8000u, bits = all & 0x7fffffffu;
  u32 const limited = bits < 0x477fe000u ? bits : 0x477fe000u;
  u32 const usual = (limited + 0x0fffu + (limited >> 13 & 1) - (112u << 23)) >> 13;
  // Added to a half, whose last digit is 2^-24, it is rounded as any sum.
  u32 const small = bits_of(from_bits(limited) + 0.5f) - bits_of(0.5f);
  return static_cast<u16>(sign | (limited < 0x38800000u ? small : usual));
}

}  // namespace pixels
}  // namespace rondo
