// Rates of pictures as fractions: 29.97 is 30000/1001.
#pragma once

#include <algorithm>
#include <cmath>

#include "actors/video/pixels/image.hpp"

namespace rondo::video {

/// Sets the picture's rate: the whole number, or the one of 1000/1001 of a whole number, that is within a hundred
/// thousandth of it; else to thousandths. Precondition: `rate` is above 0.
inline void set_rate(image& about, double rate) noexcept {
  for (std::uint32_t const den : {1u, 1001u}) {
    double const step = den == 1 ? 1 : 1000;
    double const num = std::round(rate * den / step) * step;
    if (num < 1 || std::abs(num / den - rate) >= rate * 1e-5) continue;
    about.rate_num = static_cast<std::uint32_t>(num);
    about.rate_den = den;
    return;
  }
  about.rate_num = static_cast<std::uint32_t>(std::max(1.0, std::round(rate * 1000)));
  about.rate_den = 1000;
}

}  // namespace rondo::video
