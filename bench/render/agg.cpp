// AGG (Anti-Grain Geometry), a path for each shape, on a picture of 32 bits a pixel.
#include <agg2/agg_conv_curve.h>
#include <agg2/agg_conv_stroke.h>
#include <agg2/agg_path_storage.h>
#include <agg2/agg_pixfmt_rgba.h>
#include <agg2/agg_rasterizer_scanline_aa.h>
#include <agg2/agg_renderer_scanline.h>
#include <agg2/agg_rounded_rect.h>
#include <agg2/agg_scanline_u.h>

#include <stdexcept>

#include "bench/render/on_clock.hpp"

namespace render_bench {

outcome draw_by_agg(scene const& s, std::uint32_t frames, std::string const& png) {
  if (!png.empty()) throw std::runtime_error("AGG writes no files of pictures");
  auto const edges = s.all_edges();
  auto const boxes = s.all_boxes();
  std::vector<agg::int8u> bytes(static_cast<std::size_t>(s.width) * static_cast<std::size_t>(s.height) * 4);
  agg::rendering_buffer buffer(bytes.data(), static_cast<unsigned>(s.width), static_cast<unsigned>(s.height),
                               s.width * 4);
  agg::pixfmt_rgba32_pre format(buffer);
  agg::renderer_base picture(format);
  agg::rasterizer_scanline_aa<> cells;
  agg::scanline_u8 line;
  cells.clip_box(0, 0, s.width, s.height);
  auto const ink = [](double r, double g, double b, double a) {
    return agg::rgba8(agg::rgba(r, g, b, a)).premultiply();
  };
  auto const white = ink(1, 1, 1, s.opacity), orange = ink(1, 0.5, 0, s.fill_opacity);
  auto const show = [&](auto& shape, agg::rgba8 const& colour) {
    cells.reset();
    cells.add_path(shape);
    agg::render_scanlines_aa_solid(cells, line, picture, colour);
  };
  return time_frames(frames, [&] {
    for (auto const& e : edges) {
      agg::path_storage path;
      path.move_to(e.x0, e.y0);
      double const dx = e.x1 - e.x0, dy = e.y1 - e.y0;
      if (s.curves == 0)
        path.line_to(e.x1, e.y1);
      else
        path.curve3(e.x0 + dx / 2 - dy * 0.3, e.y0 + dy / 2 + dx * 0.3, e.x1, e.y1);
      agg::conv_curve<agg::path_storage> curve(path);
      agg::conv_stroke<agg::conv_curve<agg::path_storage>> stroke(curve);
      stroke.width(s.stroke_px);
      stroke.line_cap(agg::round_cap);
      show(stroke, white);
    }
    for (auto const& b : boxes) {
      agg::rounded_rect shape(b.x, b.y, b.x + b.width, b.y + b.height, s.radius_of(b));
      show(shape, orange);
      agg::conv_stroke<agg::rounded_rect> stroke(shape);
      stroke.width(s.stroke_px);
      show(stroke, white);
    }
  });
}

}  // namespace render_bench
