// Dots and letters over a picture, beside the same in double precision, pixel by pixel.
#include "tests/streams/overlay/pictures.hpp"

namespace dots_test {

using namespace rondo::video;
using namespace overlay_test;
namespace pixels = rondo::pixels;

TEST_CASE("dots are what they are in double precision, on pictures and on layers", "[overlay][dots]") {
  auto const lanes = GENERATE(1u, 32u);
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed << ", " << lanes << " lanes");
    maker make(seed);
    auto on = make.picture();
    auto const ink = make.ink();
    std::vector<pixels::dot_shape> all(1 + make.number(40));
    for (auto& d : all)
      d = {make.within(-20, 300), make.within(-20, 200), make.number(8) == 0 ? -1 : make.within(0.1F, 60),
           make.within(0, 1)};
    exact_picture exact(on);
    for (auto const& d : all)
      if (d.radius > 0)
        exact.blend(ink, [&](double x, double y) {
          auto const left =
              std::max(0., 1 - (std::pow(x - d.x, 2) + std::pow(y - d.y, 2)) / std::pow(d.radius, 2));
          return left * left * d.opacity;
        });
    draw_in_tiles(on, all, ink, lanes);
    REQUIRE(exact.largest_difference(on) < 1);
  }
}

TEST_CASE("letters cover what their pictures say, wherever they are", "[overlay][glyphs]") {
  auto const lanes = GENERATE(1u, 32u);
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed << ", " << lanes << " lanes");
    maker make(seed);
    auto on = make.picture();
    auto const ink = make.ink();
    // An atlas of noise, with nothing in the margins.
    std::vector<pixels::u8> atlas;
    std::vector<pixels::glyph_shape> letters;
    for (std::uint32_t n = 0; n < 8; ++n) {
      auto const width = static_cast<std::int32_t>(make.number(50)),
                 height = static_cast<std::int32_t>(make.number(50));
      auto const stride = width + 2 * pixels::glyph_margin;
      letters.push_back({0, 0, width, height, static_cast<pixels::u32>(atlas.size())});
      for (std::int32_t i = 0; i < stride * height; ++i) {
        auto const column = i % stride - pixels::glyph_margin;
        atlas.push_back(column < 0 || column >= width ? 0 : static_cast<pixels::u8>(make.number(256)));
      }
    }
    std::vector<pixels::glyph_shape> all(1 + make.number(40));
    for (auto& g : all) {
      g = letters[make.number(8)];
      g.x = static_cast<std::int32_t>(make.number(320)) - 40,
      g.y = static_cast<std::int32_t>(make.number(240)) - 40;
    }
    exact_picture exact(on);
    for (auto const& g : all)
      exact.blend(ink, [&](double x, double y) {
        auto const column = static_cast<std::int32_t>(std::floor(x)) - g.x,
                   row = static_cast<std::int32_t>(std::floor(y)) - g.y;
        if (column < 0 || column >= g.width || row < 0 || row >= g.height) return 0.;
        auto const stride = g.width + 2 * pixels::glyph_margin;
        return atlas[g.at + static_cast<std::size_t>(row * stride + column + pixels::glyph_margin)] / 255.;
      });
    draw_in_tiles(on, all, pixels::lettering{atlas.data(), ink}, lanes);
    REQUIRE(exact.largest_difference(on) < 1);
  }
}

}  // namespace dots_test
