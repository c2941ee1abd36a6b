// Numbers that look random, and are the same for the same tick and seed on every device.
#pragma once

#include <cstdint>

#include "kernels/base/portable.hpp"

namespace rondo::video {

/// A hash of all of them; `seed` of the effect.
RONDO_HD inline std::uint32_t chance(std::uint32_t seed, std::uint32_t a, std::uint32_t b = 0,
                                     std::uint32_t c = 0) noexcept {
  std::uint32_t h = seed * 0x9e3779b9u + 0x85ebca6bu;
  std::uint32_t const parts[] = {a, b, c};
  for (auto const part : parts) {
    h ^= part;
    h *= 0xcc9e2d51u;
    h ^= h >> 15;
    h *= 0x1b873593u;
    h ^= h >> 13;
  }
  return h;
}
/// The same as a number from 0 up to 1.
RONDO_HD inline float part_of_one(std::uint32_t chance) noexcept {
  return static_cast<float>(chance >> 8) * 0x1p-24F;
}

}  // namespace rondo::video
