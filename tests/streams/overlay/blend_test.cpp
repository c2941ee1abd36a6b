// Layers over a picture, in each mode, beside the same in double precision, pixel by pixel; and the numbers of sixteen
// bits that they are stored in.
#include "actors/video/pixels/colours.hpp"
#include "actors/video/pixels/rows.hpp"
#include "tests/streams/overlay/pictures.hpp"

namespace blend_test {

using namespace rondo::video;
using namespace overlay_test;
namespace pixels = rondo::pixels;

namespace {

/// As binary16 is defined.
double value_of(std::uint32_t half) {
  int const exponent = static_cast<int>(half >> 10 & 31), digits = static_cast<int>(half & 1023);
  auto const size = exponent == 0 ? std::ldexp(digits, -24) : std::ldexp(1024 + digits, exponent - 25);
  return (half & 0x8000) != 0 ? -size : size;
}

struct rgb_value {
  double of[3];
};
/// ITU-T H.273, in double precision.
struct exact_matrix {
  double red, blue, black, bright, colour;

  explicit exact_matrix(colour_description const& of) {
    red = of.matrix == 1 ? 0.2126 : of.matrix == 9 ? 0.2627 : 0.299;
    blue = of.matrix == 1 ? 0.0722 : of.matrix == 9 ? 0.0593 : 0.114;
    black = of.is_full != 0 ? 0 : 16, bright = of.is_full != 0 ? 255 : 219,
    colour = of.is_full != 0 ? 255 : 224;
  }
  rgb_value to_rgb(double y, double u, double v) const {
    auto const light = (y - black) / bright;
    auto const b = light + (u - 128) / colour * 2 * (1 - blue),
               r = light + (v - 128) / colour * 2 * (1 - red);
    return {{r, (light - red * r - blue * b) / (1 - red - blue), b}};
  }
  void to_samples(rgb_value const& c, double* to) const {
    auto const light = red * c.of[0] + (1 - red - blue) * c.of[1] + blue * c.of[2];
    to[0] = black + bright * light;
    to[1] = 128 + colour * (c.of[2] - light) / 2 / (1 - blue);
    to[2] = 128 + colour * (c.of[0] - light) / 2 / (1 - red);
  }
};

/// Compositing and Blending Level 1, 5.8 and 10; `b` is below.
double mixed(pixels::blend_mode mode, double b, double s) {
  auto const hard = [](double below, double above) {
    return above <= 0.5 ? below * 2 * above : below + (2 * above - 1) - below * (2 * above - 1);
  };
  switch (mode) {
    case pixels::blend_normal:
      return s;
    case pixels::blend_multiply:
      return b * s;
    case pixels::blend_screen:
      return b + s - b * s;
    case pixels::blend_overlay:
      return hard(s, b);
    case pixels::blend_darken:
      return std::min(b, s);
    case pixels::blend_lighten:
      return std::max(b, s);
    case pixels::blend_dodge:
      return b == 0 ? 0 : s == 1 ? 1 : std::min(1., b / (1 - s));
    case pixels::blend_burn:
      return b == 1 ? 1 : s == 0 ? 0 : 1 - std::min(1., (1 - b) / s);
    case pixels::blend_hard_light:
      return hard(b, s);
    case pixels::blend_soft_light:
      if (s <= 0.5) return b - (1 - 2 * s) * b * (1 - b);
      return b + (2 * s - 1) * ((b <= 0.25 ? ((16 * b - 12) * b + 4) * b : std::sqrt(b)) - b);
    case pixels::blend_difference:
      return std::abs(b - s);
    case pixels::blend_exclusion:
      return b + s - 2 * b * s;
    case pixels::blend_add:
      return std::min(1., b + s);
  }
  return -1;
}

/// A picture on which a layer lies.
struct scene {
  picture below, above;
  colour_description colours;
  std::int32_t left = 0, top = 0;  // the pixel of the layer that is over the picture's first one
};

/// Premultiplied light of a layer's pixel, and its opacity.
struct lit {
  rgb_value light;
  double opacity;
};
lit layer_at(scene const& s, exact_matrix const& m, std::int32_t x, std::int32_t y) {
  auto const& a = s.above;
  x += s.left, y += s.top;
  if (a.about.is_layer())
    return {{{a.sample(0, x, y), a.sample(1, x, y), a.sample(2, x, y)}}, a.sample(3, x, y)};
  if (a.channels() == 3)
    return {m.to_rgb(a.sample(0, x, y), a.sample(1, x / 2, y / 2), a.sample(2, x / 2, y / 2)), 1};
  auto const opacity = a.sample(3, x, y) / 255;
  auto const left = x / 2 * 2, top = y / 2 * 2;
  auto const mean = (a.sample(3, left, top) + a.sample(3, left + 1, top) + a.sample(3, left, top + 1) +
                     a.sample(3, left + 1, top + 1)) /
                    1020;
  if (opacity == 0) return {{{0, 0, 0}}, 0};
  auto c = m.to_rgb(a.sample(0, x, y) / opacity, a.sample(1, x / 2, y / 2) / mean,
                    a.sample(2, x / 2, y / 2) / mean);
  for (auto& one : c.of) one *= opacity;
  return {c, opacity};
}

/// What a pixel of the picture becomes, in samples.
void composed(scene const& s, pixels::blend_mode mode, std::int32_t x, std::int32_t y, double* to) {
  exact_matrix const m(s.colours);
  auto const below =
      m.to_rgb(s.below.sample(0, x, y), s.below.sample(1, x / 2, y / 2), s.below.sample(2, x / 2, y / 2));
  auto const [light, opacity] = layer_at(s, m, x, y);
  rgb_value all;
  for (int c = 0; c < 3; ++c) {
    auto const under = (1 - opacity) * below.of[c];
    if (mode == pixels::blend_normal || opacity == 0)
      all.of[c] = under + light.of[c];
    else
      all.of[c] =
          under + opacity * mixed(mode, clamped(below.of[c], 0, 1), clamped(light.of[c] / opacity, 0, 1));
  }
  m.to_samples(all, to);
}

/// The same from that pixel on.
pixels::layer_planes moved(pixels::layer_planes p, std::int32_t left, std::int32_t top) {
  auto const by = top * p.stride + left;
  p.red += by, p.green += by, p.blue += by, p.opacities += by;
  p.marks.left = left, p.marks.top = top;
  return p;
}

/// The largest difference of a sample of the picture that comes out.
double error_of(scene const& s, pixels::blend_mode mode, std::uint32_t lanes) {
  auto made = s.below;
  pixels::blending const how{mode, matrix_of(s.colours)};
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    rows const row(static_cast<i32>(lane), static_cast<i32>(lanes));
    for (std::int32_t y = 0; y < made.about.height; y += 2)
      if (s.above.about.is_layer())
        row.blend(made.planes(), moved(s.above.layer(), s.left, s.top), how, y);
      else
        row.blend(made.planes(), s.above.planes(), how, y);
  }
  double most = 0;
  for (std::int32_t y = 0; y < made.about.height; y += 2)
    for (std::int32_t x = 0; x < made.about.width; x += 2) {
      double u = 0, v = 0;
      for (int n = 0; n < 4; ++n) {
        double of[3];
        composed(s, mode, x + n % 2, y + n / 2, of);
        most = std::max(most, std::abs(clamped(of[0], 0, 255) - made.sample(0, x + n % 2, y + n / 2)));
        u += of[1] / 4, v += of[2] / 4;
      }
      most = std::max(most, std::abs(clamped(u, 0, 255) - made.sample(1, x / 2, y / 2)));
      most = std::max(most, std::abs(clamped(v, 0, 255) - made.sample(2, x / 2, y / 2)));
    }
  return most;
}

/// Samples as a layer of 8 bits has them: premultiplied, those of colour with the mean of four opacities.
void premultiply(picture const& p) {
  auto const planes = p.planes();
  for (std::int32_t y = 0; y < p.about.height; ++y)
    for (std::int32_t x = 0; x < p.about.width; ++x) {
      auto const opacity = p.sample(3, x, y);
      auto& bright = planes.y[y * planes.stride + x];
      bright = static_cast<std::uint8_t>(bright * opacity / 255);
      if (x % 2 != 0 || y % 2 != 0) continue;
      auto const mean =
          (opacity + p.sample(3, x + 1, y) + p.sample(3, x, y + 1) + p.sample(3, x + 1, y + 1)) / 4;
      for (auto* const plane : {planes.u, planes.v}) {
        auto& of = plane[y / 2 * planes.colour_stride + x / 2];
        of = static_cast<std::uint8_t>(of * mean / 255);
      }
    }
}

scene any_scene(std::uint32_t seed, pixel_format format) {
  maker make(seed);
  auto const width = 16 + 2 * static_cast<std::int32_t>(make.number(40)),
             height = 16 + 2 * static_cast<std::int32_t>(make.number(20));
  scene s{{width, height, pixel_format::i420, seed}, {width, height, format, seed + 1}, {}};
  constexpr std::uint8_t matrices[] = {1, 6, 9};
  s.colours.matrix = matrices[make.number(3)];
  s.colours.is_full = static_cast<std::uint8_t>(make.number(2));
  if (format == pixel_format::i420a) {
    // Some parts show nothing, some everything.
    for (std::int32_t y = 0; y < height; ++y)
      for (std::int32_t x = 0; x < width; ++x) {
        auto& opacity = s.above.planes().opacities[y * s.above.planes().stride + x];
        if (x / 8 % 3 == 0) opacity = 0;
        if (x / 8 % 3 == 1 && y / 8 % 2 == 0) opacity = 255;
      }
    premultiply(s.above);
  }
  return s;
}

}  // namespace

TEST_CASE("numbers of sixteen bits are those of binary16, to the nearest one", "[overlay][half]") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits >> 10 & 31) == 31) continue;  // infinite, or no number
    auto const half = static_cast<pixels::u16>(bits);
    if (double(pixels::from_half(half)) != value_of(bits)) FAIL_CHECK("from " << bits);
    if (pixels::to_half(pixels::from_half(half)) != half) FAIL_CHECK("to " << bits);
    if ((bits & 0x7fff) == 0x7bff) continue;
    // Between two: the nearest; in the middle, the even one.
    auto const low = value_of(bits), high = value_of(bits + 1), middle = (low + high) / 2;
    auto const made = [](double of) {
      return static_cast<std::uint32_t>(pixels::to_half(static_cast<float>(of)));
    };
    if (made(middle) != bits + bits % 2) FAIL_CHECK("the middle above " << bits);
    if (made(low + (high - low) * 0.499) != bits) FAIL_CHECK("a little above " << bits);
    if (made(low + (high - low) * 0.501) != bits + 1) FAIL_CHECK("a little below what follows " << bits);
  }
  CHECK(pixels::to_half(1e9F) == 0x7bff);
  CHECK(pixels::to_half(-1e9F) == 0xfbff);
  CHECK(pixels::to_half(65519) == 0x7bff);
}

TEST_CASE("a layer is blended as in double precision, in each mode, whatever its samples are",
          "[overlay][blend]") {
  auto const mode = static_cast<pixels::blend_mode>(GENERATE(range(0, 13)));
  auto const format = GENERATE(pixel_format::i420, pixel_format::i420a, pixel_format::rgba_f16);
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    auto const lanes = seed % 2 == 0 ? 1u : 32u;
    INFO("mode " << mode << ", " << name_of(format) << ", seed " << seed << ", " << lanes << " lanes");
    REQUIRE(error_of(any_scene(seed, format), mode, lanes) < 0.6);
  }
}

TEST_CASE("a layer of floats may begin anywhere: tiles without samples are never read", "[overlay][blend]") {
  auto const lanes = GENERATE(1u, 32u);
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    maker make(seed);
    auto const left = 2 * static_cast<std::int32_t>(make.number(70)),
               top = 2 * static_cast<std::int32_t>(make.number(70));
    auto const width = 16 + 2 * static_cast<std::int32_t>(make.number(90)),
               height = 16 + 2 * static_cast<std::int32_t>(make.number(40));
    INFO("seed " << seed << ", " << lanes << " lanes, from " << left << ", " << top);
    scene const s{{width, height, pixel_format::i420, seed},
                  {left + width, top + height, pixel_format::rgba_f16, seed + 1},
                  {},
                  left,
                  top};
    REQUIRE(error_of(s, pixels::blend_normal, lanes) < 0.6);
    REQUIRE(error_of(s, pixels::blend_multiply, lanes) < 0.6);
  }
}

TEST_CASE("a layer of 8 bits covers a picture as in double precision, rounded twice", "[overlay][blend]") {
  auto const lanes = GENERATE(1u, 32u);
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    auto const s = any_scene(seed, pixel_format::i420a);
    auto made = s.below;
    auto const to = made.planes(), from = s.above.planes();
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      rows const row(static_cast<i32>(lane), static_cast<i32>(lanes));
      for (std::int32_t y = 0; y < made.about.height; ++y)
        row.layer(to.y + y * to.stride, from.y + y * from.stride, from.opacities + y * from.stride, 1,
                  from.stride, to.width);
      for (std::int32_t y = 0; y < made.about.height / 2; ++y) {
        auto const* const opacities = from.opacities + 2 * y * from.stride;
        row.layer(to.u + y * to.colour_stride, from.u + y * from.colour_stride, opacities, 2, from.stride,
                  to.width / 2);
        row.layer(to.v + y * to.colour_stride, from.v + y * from.colour_stride, opacities, 2, from.stride,
                  to.width / 2);
      }
    }
    double most = 0;
    for (int c = 0; c < 3; ++c)
      for (std::int32_t y = 0; y < made.about.height / made.shrink(c); ++y)
        for (std::int32_t x = 0; x < made.about.width / made.shrink(c); ++x) {
          double opacity = 0;
          auto const shrink = made.shrink(c);
          for (int n = 0; n < shrink * shrink; ++n)
            opacity +=
                s.above.sample(3, shrink * x + n % shrink, shrink * y + n / shrink) / (shrink * shrink) / 255;
          auto const expected = s.above.sample(c, x, y) + (1 - opacity) * s.below.sample(c, x, y);
          most = std::max(most, std::abs(std::min(expected, 255.) - made.sample(c, x, y)));
        }
    INFO("seed " << seed);
    REQUIRE(most < 1.1);
  }
}

}  // namespace blend_test
