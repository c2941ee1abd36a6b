// Pictures that are cut, turned, mirrored and scaled: every sample is where it is expected.
#include <algorithm>
#include <array>
#include <cmath>

#include "actors/video/media/reshape.hpp"
#include "tests/streams/media_bed.hpp"

namespace reshape_test {

using namespace media_test;
using turns = reshape::quarter_turns;
using mirror = reshape::mirror_of;
using fitting = reshape::fitting;

/// The first picture of a pattern of 64x48 pixels, reshaped by each of these in turn.
pictures shown(std::vector<reshape::options> const& all) {
  runtime rt{use<media_test::stages>, {.device = "cpu"}};
  pictures seen;
  streams::graph g{rt, {.ticks = 1}};
  auto at = g.add<test_pattern>("pattern", {.width = 64, .height = 48}).out<"video">();
  for (std::size_t n = 0; n < all.size(); ++n) {
    auto const s = g.add<reshape>("reshape" + std::to_string(n), all[n]);
    g.connect(at, s.in<"video">());
    at = s.out<"video">();
  }
  g.connect(at, g.add<callback_sink>("to", seen.options()).in<"video">());
  g.start();
  REQUIRE(!g.wait(60s));
  REQUIRE(seen.all.size() == 1);
  return seen;
}

/// Calls f(plane, x, y, sample) for each sample.
template <class F>
void each_sample(pictures const& p, F const& f) {
  auto const planes = planes_at(p.about, p.all.front().data());
  for (int n = 0; n < 3; ++n)
    for (std::int32_t y = 0; y < planes.of[n].height; ++y)
      for (std::int32_t x = 0; x < planes.of[n].width; ++x) f(n, x, y, planes.of[n].at(x, y));
}
/// Whether each sample of `after` is that of `before` at where(x, y) of its plane, which has this size.
template <class Where>
bool comes_from(pictures const& before, pictures const& after, Where const& where) {
  auto const from = planes_at(before.about, before.all.front().data());
  bool same = true;
  each_sample(after, [&](int n, std::int32_t x, std::int32_t y, int sample) {
    auto const [u, v] = where(x, y, from.of[n].width, from.of[n].height, n == 0 ? 1 : 2);
    same = same && sample == from.of[n].at(u, v);
  });
  return same;
}
using place = std::pair<std::int32_t, std::int32_t>;

std::string refusal(reshape::options const& o) {
  return error_of([&] { static_cast<void>(shown({o})); });
}

TEST_CASE("a picture is cut", "[reshape]") {
  auto const before = shown({}),
             after = shown({{.cut_left = 6, .cut_right = 10, .cut_top = 4, .cut_bottom = 12}});
  CHECK(after.about.width == 48);
  CHECK(after.about.height == 32);
  CHECK(comes_from(before, after, [](auto x, auto y, auto, auto, int shrink) {
    return place{x + 6 / shrink, y + 4 / shrink};
  }));
}

TEST_CASE("a picture is turned and mirrored", "[reshape]") {
  auto const before = shown({});
  auto const right = shown({{.turn = turns::right}});
  CHECK(right.about.width == 48);
  CHECK(right.about.height == 64);
  CHECK(comes_from(before, right, [](auto x, auto y, auto, auto h, int) { return place{y, h - 1 - x}; }));
  auto const left = shown({{.turn = turns::left}});
  CHECK(comes_from(before, left, [](auto x, auto y, auto w, auto, int) { return place{w - 1 - y, x}; }));
  auto const half = shown({{.turn = turns::half}});
  CHECK(comes_from(before, half, [](auto x, auto y, auto w, auto h, int) {
    return place{w - 1 - x, h - 1 - y};
  }));
  auto const sides = shown({{.mirror = mirror::sides}});
  CHECK(comes_from(before, sides, [](auto x, auto y, auto w, auto, int) { return place{w - 1 - x, y}; }));
  auto const top = shown({{.mirror = mirror::top}});
  CHECK(comes_from(before, top, [](auto x, auto y, auto, auto h, int) { return place{x, h - 1 - y}; }));
  auto const back = shown({{.turn = turns::right}, {.turn = turns::left}});
  CHECK(comes_from(before, back, [](auto x, auto y, auto, auto, int) { return place{x, y}; }));
}

TEST_CASE("a picture is scaled, and keeps its shape unless it is told", "[reshape]") {
  auto const mean = [](pictures const& p) {
    double sum[3] = {}, count[3] = {};
    each_sample(p, [&](int n, auto, auto, int sample) { sum[n] += sample, count[n] += 1; });
    return std::array{sum[0] / count[0], sum[1] / count[1], sum[2] / count[2]};
  };
  auto const before = shown({});
  for (auto const& [width, height] : {std::pair{128, 0}, {0, 96}, {128, 96}, {32, 24}, {32, 0}}) {
    auto const after = shown({{.width = width, .height = height}});
    INFO(after.about.width << "x" << after.about.height);
    CHECK(after.about.width * 48 == after.about.height * 64);
    for (int n = 0; n < 3; ++n)
      CHECK(std::abs(mean(after)[std::size_t(n)] - mean(before)[std::size_t(n)]) < 1.5);
  }
  auto const stretched = shown({{.width = 20, .height = 100}});
  CHECK(stretched.about.width == 20);
  CHECK(stretched.about.height == 100);
}

TEST_CASE("a picture of another shape gets a black margin, or is cut", "[reshape]") {
  auto const before = shown({});
  auto const padded = shown({{.width = 100, .height = 48, .fit = fitting::pad}});
  CHECK(padded.about.width == 100);
  each_sample(padded, [](int n, std::int32_t x, std::int32_t, int sample) {
    auto const column = n == 0 ? x : 2 * x;
    if (column < 18 || column >= 82) CHECK(sample == (n == 0 ? 16 : 128));
  });
  auto const inside =
      shown({{.width = 100, .height = 48, .fit = fitting::pad}, {.cut_left = 18, .cut_right = 18}});
  CHECK(comes_from(before, inside, [](auto x, auto y, auto, auto, int) { return place{x, y}; }));
  auto const cut = shown({{.width = 32, .height = 48, .fit = fitting::cut}});
  CHECK(comes_from(before, cut, [](auto x, auto y, auto, auto, int shrink) {
    return place{x + 16 / shrink, y};
  }));
}

TEST_CASE("what cannot be reshaped is refused", "[reshape]") {
  CHECK_THAT(refusal({.cut_left = 3}), Contains("3 is odd: pictures are cut and scaled by even numbers"));
  CHECK_THAT(refusal({.cut_left = 30, .cut_right = 30}),
             Contains("of 64x48 pixels 4x48 are left: at least 16 must be, in each direction"));
  CHECK_THAT(refusal({.cut_top = 400}), Contains("pixels 64x-352 are left"));
  CHECK_THAT(refusal({.width = 8}), Contains("a picture has at least 16 pixels in each direction"));
}

}  // namespace reshape_test
