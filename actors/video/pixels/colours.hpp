// Colours that are drawn, red, green and blue as sRGB has them, as the samples of a picture with a given meaning.
#pragma once

#include "actors/video/pixels/image.hpp"
#include "kernels/pixels/overlay/blend.hpp"
#include "kernels/pixels/shapes.hpp"

namespace rondo::video {

struct rgb {
  std::uint8_t r, g, b;
};

/// From "#rrggbb". False if it is something else.
RONDO_HD constexpr bool read_colour(char const* text, rgb& to) {
  std::uint32_t all = 0;
  if (text[0] != '#') return false;
  for (int i = 1; i < 7; ++i) {
    char const c = text[i];
    bool const is_digit = c >= '0' && c <= '9', is_small = c >= 'a' && c <= 'f',
               is_large = c >= 'A' && c <= 'F';
    if (!is_digit && !is_small && !is_large) return false;
    all = 16 * all + static_cast<std::uint32_t>(is_digit ? c - '0' : is_small ? c - 'a' + 10 : c - 'A' + 10);
  }
  to = {static_cast<std::uint8_t>(all >> 16), static_cast<std::uint8_t>(all >> 8),
        static_cast<std::uint8_t>(all)};
  return text[7] == 0;
}

using pixels::sample_colour;

/// The shares of red and blue in brightness, times 10000 (ITU-T H.273, matrix coefficients). What is not said is
/// BT.601, as FFmpeg has it.
struct brightness_shares {
  std::int32_t red, blue;
};
RONDO_HD constexpr brightness_shares shares_of(std::uint8_t matrix) {
  switch (matrix) {
    case 1:
      return {2126, 722};
    case 4:
      return {3000, 1100};
    case 7:
      return {2120, 870};
    case 9:
    case 10:
      return {2627, 593};
    default:
      return {2990, 1140};
  }
}

/// The same for drawing in red, green and blue.
RONDO_HD constexpr pixels::colour_matrix matrix_of(colour_description const& of) {
  auto const shares = shares_of(of.matrix);
  auto const red = static_cast<float>(shares.red) / 10'000, blue = static_cast<float>(shares.blue) / 10'000;
  auto const bright = of.is_full != 0 ? 255.F : 219.F, colour = of.is_full != 0 ? 255.F : 224.F;
  return {red,
          1 - red - blue,
          blue,
          of.is_full != 0 ? 0.F : 16.F,
          bright,
          colour / (2 * (1 - blue)),
          colour / (2 * (1 - red))};
}

/// In whole numbers, so that every device finds the same.
RONDO_HD constexpr sample_colour samples_of(rgb c, colour_description const& of) {
  auto const shares = shares_of(of.matrix);
  std::int32_t const bright =
      shares.red * c.r + (10'000 - shares.red - shares.blue) * c.g + shares.blue * c.b;  // times 10000
  std::int64_t const scale_y = of.is_full != 0 ? 255 : 219, scale_c = of.is_full != 0 ? 255 : 224;
  auto const rounded = [](std::int64_t value, std::int64_t by, std::int64_t above) {
    auto const sample = above + (value >= 0 ? (value + by / 2) / by : -((-value + by / 2) / by));
    return static_cast<std::uint8_t>(sample < 0 ? 0 : sample > 255 ? 255 : sample);
  };
  return {
      rounded(scale_y * bright, 255 * 10'000, of.is_full != 0 ? 0 : 16),
      rounded(scale_c * (10'000 * c.b - bright), std::int64_t{2} * (10'000 - shares.blue) * 255, 128),
      rounded(scale_c * (10'000 * c.r - bright), std::int64_t{2} * (10'000 - shares.red) * 255, 128),
  };
}

}  // namespace rondo::video
