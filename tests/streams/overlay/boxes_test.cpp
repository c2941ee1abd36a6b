// Boxes over a picture, beside the same in double precision, pixel by pixel, and beside cairo.
#include "tests/streams/overlay/pictures.hpp"

namespace boxes_test {

using namespace rondo::video;
using namespace overlay_test;
namespace pixels = rondo::pixels;

namespace {

using drawing = std::vector<pixels::box_shape>;

void draw(drawing const& all, picture& on, std::uint32_t lanes = 1) {
  draw_in_tiles(on, all, pixels::no_more{}, lanes);
}

/// As kernels/pixels/overlay/boxes.hpp describes it. (x, y): from the middle.
double coverage(double x, double y, double half_width, double half_height, double radius) {
  x = std::abs(x), y = std::abs(y);
  double const corner_x = x - (half_width - radius), corner_y = y - (half_height - radius);
  if (radius > 0 && corner_x > 0 && corner_y > 0)
    return clamped(radius + 0.5 - std::hypot(corner_x, corner_y), 0, 1);
  return clamped(half_width + 0.5 - x, 0, std::min(1.0, 2 * half_width)) *
         clamped(half_height + 0.5 - y, 0, std::min(1.0, 2 * half_height));
}

double error_of(drawing const& all, picture on, std::uint32_t lanes = 1) {
  exact_picture exact(on);
  for (auto const& b : all) {
    double const w = b.half_width, h = b.half_height, r = b.radius, s = b.half_stroke;
    if (w < 0 || h < 0) continue;
    exact.blend(b.fill, [&](double x, double y) { return coverage(x - b.x, y - b.y, w, h, r); });
    if (s <= 0) continue;
    exact.blend(b.stroke, [&](double x, double y) {
      auto const outer = coverage(x - b.x, y - b.y, w + s, h + s, r > 0 ? r + s : 0);
      auto const inner = w > s && h > s ? coverage(x - b.x, y - b.y, w - s, h - s, std::max(r - s, 0.0)) : 0;
      return outer - inner;
    });
  }
  draw(all, on, lanes);
  return exact.largest_difference(on);
}

pixels::box_shape any_box(maker& make, picture const& in) {
  auto const w = static_cast<float>(in.about.width), h = static_cast<float>(in.about.height);
  pixels::box_shape b{};
  b.x = make.within(-w / 2, w * 1.5F), b.y = make.within(-h / 2, h * 1.5F);
  b.half_width = make.number(6) == 0 ? make.within(-1, 1) : make.within(0, w);
  b.half_height = make.number(6) == 0 ? make.within(-1, 1) : make.within(0, h);
  b.radius =
      make.number(3) == 0 ? 0 : make.within(0, 1) * std::max(0.F, std::min(b.half_width, b.half_height));
  b.half_stroke = make.number(3) == 0 ? 0 : make.within(0, 6);
  b.fill = make.ink(), b.stroke = make.ink();
  return b;
}

}  // namespace

TEST_CASE("boxes are what they are in double precision, on pictures and on layers", "[overlay][boxes]") {
  auto const lanes = GENERATE(1u, 4u, 32u);
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed << ", " << lanes << " lanes");
    maker make(seed);
    auto const p = make.picture();
    drawing all(1 + make.number(20));
    for (auto& b : all) b = any_box(make, p);
    REQUIRE(error_of(all, p, lanes) < 1);
  }
}

TEST_CASE("boxes look as cairo draws them", "[overlay][boxes][cairo]") {
  constexpr int w = 800, h = 600;
  constexpr auto pi = 3.14159265358979;
  auto const radius = GENERATE(0., 3., 25.);
  auto const stroke = GENERATE(0., 1., 4.);
  INFO("radius " << radius << ", stroke " << stroke);
  maker make(23);
  auto* const surface = cairo_image_surface_create(CAIRO_FORMAT_A8, w, h);
  auto* const c = cairo_create(surface);
  cairo_set_antialias(c, CAIRO_ANTIALIAS_BEST);
  drawing all;
  for (int i = 0; i < 25; ++i) {
    double const bw = make.within(60, 300), bh = make.within(60, 200), x = make.within(10, 480),
                 y = make.within(10, 380);
    cairo_new_sub_path(c);
    if (radius == 0) {
      cairo_rectangle(c, x, y, bw, bh);
    } else {
      cairo_arc(c, x + bw - radius, y + radius, radius, -pi / 2, 0);
      cairo_arc(c, x + bw - radius, y + bh - radius, radius, 0, pi / 2);
      cairo_arc(c, x + radius, y + bh - radius, radius, pi / 2, pi);
      cairo_arc(c, x + radius, y + radius, radius, pi, 3 * pi / 2);
      cairo_close_path(c);
    }
    cairo_set_source_rgba(c, 1, 1, 1, 0.2);
    cairo_fill_preserve(c);
    cairo_set_source_rgba(c, 1, 1, 1, 0.7);
    cairo_set_line_width(c, stroke);
    if (stroke > 0) cairo_stroke(c);
    cairo_new_path(c);
    all.push_back({float(x + bw / 2),
                   float(y + bh / 2),
                   float(bw / 2),
                   float(bh / 2),
                   float(radius),
                   float(stroke / 2),
                   {255, 128, 128, 0.2F},
                   {255, 128, 128, 0.7F}});
  }
  cairo_destroy(c);
  picture p(w, h);
  for (std::int32_t y = 0; y < h; ++y) std::fill_n(p.plane(0).row(y), w, std::uint8_t{0});
  draw(all, p);
  looks_alike(surface, p);
  cairo_surface_destroy(surface);
}

}  // namespace boxes_test
