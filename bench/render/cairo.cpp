// cairo, a path for each shape, on a picture of 32 bits a pixel.
#include <cairo.h>

#include "bench/render/on_clock.hpp"

namespace render_bench {

namespace {

void trace(cairo_t* c, scene const& s, rondo::video::box const& b) {
  constexpr double quarter = 1.5707963267948966;
  double const x = b.x, y = b.y, w = b.width, h = b.height, r = s.radius_of(b);
  cairo_new_sub_path(c);
  cairo_arc(c, x + w - r, y + r, r, -quarter, 0);
  cairo_arc(c, x + w - r, y + h - r, r, 0, quarter);
  cairo_arc(c, x + r, y + h - r, r, quarter, 2 * quarter);
  cairo_arc(c, x + r, y + r, r, 2 * quarter, 3 * quarter);
  cairo_close_path(c);
}

}  // namespace

outcome draw_by_cairo(scene const& s, std::uint32_t frames, std::string const& png) {
  auto const edges = s.all_edges();
  auto const boxes = s.all_boxes();
  auto* const picture = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, s.width, s.height);
  auto* const c = cairo_create(picture);
  cairo_set_line_width(c, s.stroke_px);
  cairo_set_line_cap(c, CAIRO_LINE_CAP_ROUND);
  auto const draw = [&] {
    cairo_set_source_rgba(c, 1, 1, 1, s.opacity);
    for (auto const& e : edges) {
      cairo_move_to(c, e.x0, e.y0);
      if (s.curves == 0) {
        cairo_line_to(c, e.x1, e.y1);
      } else {  // a cubic curve that is quadratic
        double const dx = e.x1 - e.x0, dy = e.y1 - e.y0;
        double const x = e.x0 + dx / 2 - dy * 0.3, y = e.y0 + dy / 2 + dx * 0.3;
        cairo_curve_to(c, e.x0 + (x - e.x0) * 2 / 3, e.y0 + (y - e.y0) * 2 / 3, e.x1 + (x - e.x1) * 2 / 3,
                       e.y1 + (y - e.y1) * 2 / 3, e.x1, e.y1);
      }
      cairo_stroke(c);
    }
    for (auto const& b : boxes) {
      trace(c, s, b);
      cairo_set_source_rgba(c, 1, 0.5, 0, s.fill_opacity);
      cairo_fill_preserve(c);
      cairo_set_source_rgba(c, 1, 1, 1, s.opacity);
      cairo_stroke(c);
    }
    cairo_surface_flush(picture);
  };
  auto const o = time_frames(frames, draw);
  if (!png.empty()) cairo_surface_write_to_png(picture, png.c_str());
  cairo_destroy(c);
  cairo_surface_destroy(picture);
  return o;
}

}  // namespace render_bench
