// Strokes over a picture, beside the same in double precision, pixel by pixel, and beside cairo.
#include <cairo.h>

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/streams/overlay/pictures.hpp"

namespace strokes_test {

using namespace rondo::video;
namespace pixels = rondo::pixels;
using namespace overlay_test;

namespace {

struct place {
  float x, y;
};
struct stroke {
  pixels::stroke_style style;
  std::vector<place> through;  // as many for each stroke of a drawing
};
using drawing = std::vector<stroke>;

void draw(drawing const& all, picture& on, std::uint32_t lanes = 1) {
  auto const pieces = all.empty() ? 1u : static_cast<std::uint32_t>(all[0].through.size()) - 1;
  std::vector<pixels::stroke_style> styles;
  for (auto const& s : all) styles.push_back(s.style);
  draw_in_tiles<pixels::segment>(
      on, static_cast<std::uint32_t>(all.size()), pieces,
      [&](std::uint32_t n, pixels::segment* to) {
        auto const& at = all[n].through;
        for (std::uint32_t i = 0; i < pieces; ++i)
          to[i] = pixels::segment_between(at[i].x, at[i].y, at[i + 1].x, at[i + 1].y,
                                          pixels::reach_of(all[n].style), static_cast<std::int32_t>(n));
      },
      pixels::stroke_styles{styles.data(), static_cast<pixels::i32>(styles.size())}, lanes);
}

/// As kernels/pixels/overlay/strokes.hpp describes it.
double coverage(stroke const& s, double x, double y) {
  double all = 0;
  double const half = s.style.half_width, soft = s.style.softness;
  for (std::size_t i = 0; i + 1 < s.through.size(); ++i) {
    auto const a = s.through[i], b = s.through[i + 1];
    double const dx = double(b.x) - a.x, dy = double(b.y) - a.y, length = std::hypot(dx, dy);
    double const tx = length > 0 ? dx / length : 1, ty = length > 0 ? dy / length : 0;
    double const px = x - (double(a.x) + b.x) / 2, py = y - (double(a.y) + b.y) / 2;
    double const across = std::abs(tx * py - ty * px);
    double const beyond =
        std::abs(tx * px + ty * py) - length / 2 - (s.style.end == pixels::end_square ? half : 0);
    double const most = std::min(1.0, 2 * half / soft);
    double c = 0;
    if (s.style.end == pixels::end_round)
      c = clamped((half - std::hypot(across, std::max(beyond, 0.0))) / soft + 0.5, 0, most);
    else
      c = clamped((half - across) / soft + 0.5, 0, most) * clamped(0.5 - beyond / soft, 0, 1);
    all = std::max(all, c);
  }
  return s.style.falls_off != 0 ? all * all : all;
}

/// How far the picture is from what it should be.
double error_of(drawing const& all, picture on, std::uint32_t lanes = 1) {
  exact_picture exact(on);
  for (auto const& s : all)
    exact.blend(s.style.colour, [&](double x, double y) { return coverage(s, x, y); });
  draw(all, on, lanes);
  return exact.largest_difference(on);
}

pixels::stroke_style any_style(maker& make) {
  pixels::stroke_style s{};
  s.colour = make.ink();
  s.half_width = make.number(4) == 0 ? make.within(0, 0.5F) : make.within(0.5F, 12);
  s.softness = make.number(4) == 0 ? make.within(1, 20) : 1;
  s.end = static_cast<pixels::i32>(make.number(3));
  s.falls_off = make.number(5) == 0;
  return s;
}
place any_place(maker& make, picture const& in) {
  auto const w = static_cast<float>(in.about.width), h = static_cast<float>(in.about.height);
  return {make.within(-w / 2, w * 1.5F), make.within(-h / 2, h * 1.5F)};
}

}  // namespace

TEST_CASE("strokes are what they are in double precision, on pictures and on layers", "[overlay][strokes]") {
  auto const lanes = GENERATE(1u, 4u, 32u);
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    INFO("seed " << seed << ", " << lanes << " lanes");
    maker make(seed);
    picture const p = make.picture();
    drawing all(1 + make.number(12));
    auto const points = 2 + make.number(6);
    for (auto& s : all) {
      s.style = any_style(make);
      for (std::uint32_t i = 0; i < points; ++i) s.through.push_back(any_place(make, p));
      if (make.number(5) == 0) s.through[1] = s.through[0];
      if (make.number(5) == 0) s.through[1].y = s.through[0].y;
      if (make.number(5) == 0) s.through[1].x = s.through[0].x;
    }
    REQUIRE(error_of(all, p, lanes) < 1);
  }
}

TEST_CASE("a translucent stroke has no darker joints", "[overlay][strokes]") {
  picture p(128, 64);
  stroke s{{{255, 128, 128, 0.5F}, 4, 1, pixels::end_round, 0}, {}};
  for (int i = 0; i <= 50; ++i) s.through.push_back({10 + 2 * static_cast<float>(i), 30});
  stroke const whole{s.style, {{10, 30}, {110, 30}}};
  picture q(128, 64);
  draw({s}, p);
  draw({whole}, q);
  for (std::int32_t y = 0; y < 64; ++y)
    for (std::int32_t x = 0; x < 128; ++x) REQUIRE(std::abs(p.plane(0).at(x, y) - q.plane(0).at(x, y)) <= 1);
}

TEST_CASE("no stroke is lost, however many share a tile or a picture", "[overlay][strokes]") {
  // Long lines over small pictures: more places in bins than there is room for.
  maker make(5);
  picture const p(640, 96);
  drawing all(600);
  for (auto& s : all) {
    s.style = {{make.within(0, 255), 90, 200, 0.02F}, make.within(0, 60), 1, pixels::end_round, 0};
    s.through = {{-50, make.within(0, 96)}, {700, make.within(0, 96)}};
  }
  CHECK(error_of(all, p) < 2.7);  // rounded twice
}

TEST_CASE("only tiles that a stroke touches are drawn", "[overlay][strokes]") {
  picture const before(1024, 512);
  auto after = before;
  draw({{{{255, 0, 0, 1}, 2, 1, pixels::end_round, 0}, {{100, 100}, {105, 200}}}}, after);
  std::size_t changed = 0;
  for (std::int32_t y = 0; y < 512; ++y)
    for (std::int32_t x = 0; x < 1024; ++x) {
      bool const is_far = x < 95 || x > 110 || y < 95 || y > 205;
      if (is_far) REQUIRE(before.plane(0).at(x, y) == after.plane(0).at(x, y));
      changed += before.plane(0).at(x, y) != after.plane(0).at(x, y);
    }
  CHECK(changed > 300);
}

TEST_CASE("lines look as cairo draws them", "[overlay][strokes][cairo]") {
  constexpr int w = 800, h = 600;
  auto const width = GENERATE(1.F, 3.F, 8.F);
  auto const end = GENERATE(pixels::end_round, pixels::end_butt, pixels::end_square);
  INFO("width " << width << ", ends " << end);
  maker make(17);
  std::vector<std::pair<place, place>> lines;
  for (int i = 0; i < 40; ++i)
    lines.push_back({{make.within(20, w - 20), make.within(20, h - 20)},
                     {make.within(20, w - 20), make.within(20, h - 20)}});

  auto* const surface = cairo_image_surface_create(CAIRO_FORMAT_A8, w, h);
  auto* const c = cairo_create(surface);
  cairo_set_antialias(c, CAIRO_ANTIALIAS_BEST);
  cairo_set_line_width(c, double{width});
  cairo_set_line_cap(c, end == pixels::end_round  ? CAIRO_LINE_CAP_ROUND
                        : end == pixels::end_butt ? CAIRO_LINE_CAP_BUTT
                                                  : CAIRO_LINE_CAP_SQUARE);
  for (auto const& [a, b] : lines) {
    cairo_move_to(c, double{a.x}, double{a.y});
    cairo_line_to(c, double{b.x}, double{b.y});
    cairo_stroke(c);
  }
  cairo_surface_flush(surface);

  picture p(w, h);
  for (std::int32_t y = 0; y < h; ++y) std::fill_n(p.plane(0).row(y), w, std::uint8_t{0});
  drawing all;
  for (auto const& [a, b] : lines) all.push_back({{{255, 128, 128, 1}, width / 2, 1, end, 0}, {a, b}});
  draw(all, p);

  cairo_destroy(c);
  looks_alike(surface, p);
  cairo_surface_destroy(surface);
}

}  // namespace strokes_test
