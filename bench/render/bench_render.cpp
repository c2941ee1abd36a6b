// Draws one scene in one way, again and again, and prints one line of JSON: the median and the slowest of its frames.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "actors/video/stages/draw_edges.hpp"
#include "bench/render/scene.hpp"
#include "kernels/pixels/overlay/boxes.hpp"

using namespace render_bench;
namespace pixels = rondo::pixels;

namespace {

/// The share of tiles that lines and boxes touch. Curves are as straight here.
double touched_share(scene const& s) {
  auto const grid = pixels::tiles_of(s.width, s.height);
  std::vector<bool> touched(static_cast<std::size_t>(grid.columns) * static_cast<std::size_t>(grid.rows));
  auto const mark = [&](auto const& shape) {
    auto const rows = tile_rows_of(shape, grid);
    for (auto row = rows.first; row < rows.last; ++row) {
      auto const columns = tile_columns_of(shape, grid, row);
      for (auto column = columns.first; column < columns.last; ++column)
        touched[static_cast<std::size_t>(row * grid.columns + column)] = true;
    }
  };
  for (auto const& e : s.all_edges())
    mark(pixels::segment_between(e.x0, e.y0, e.x1, e.y1, s.stroke_px / 2 + 0.51F, 0));
  for (auto const& b : s.all_boxes())
    mark(pixels::box_shape{
        b.x + b.width / 2, b.y + b.height / 2, b.width / 2, b.height / 2, 0, s.stroke_px / 2, {}, {}});
  return static_cast<double>(std::ranges::count(touched, true)) / static_cast<double>(touched.size());
}

/// For peers in other languages: all shapes, as JSON.
void print_shapes(scene const& s) {
  fmt::print(
      R"({{"width": {}, "height": {}, "stroke_px": {}, "opacity": {}, "fill_opacity": {}, "curved": {}, "edges": [)",
      s.width, s.height, s.stroke_px, s.opacity, s.fill_opacity, s.curves != 0);
  char const* separator = "";
  for (auto const& e : s.all_edges())
    fmt::print("{}[{}, {}, {}, {}]", std::exchange(separator, ", "), e.x0, e.y0, e.x1, e.y1);
  fmt::print(R"(], "boxes": [)");
  separator = "";
  for (auto const& b : s.all_boxes())
    fmt::print("{}[{}, {}, {}, {}, {}]", std::exchange(separator, ", "), b.x, b.y, b.width, b.height,
               s.radius_of(b));
  fmt::print("]}}\n");
}

}  // namespace

int main(int argc, char** argv) {
  scene s;
  std::string way = "rondo", png;
  std::uint32_t teams = 2, frames = 200, window = 1;
  bool shapes = false;
  CLI::App app{"Draws a scene, and measures how long a frame takes"};
  app.set_config("--scene", "", "a file of bench/render, with the options below that say what is drawn",
                 true);
  s.describe(app);
  app.add_option("--by", way, "rondo, naive, cairo, agg or opencv")
      ->check(CLI::IsMember({"rondo", "naive", "cairo", "agg", "opencv"}));
  app.add_option("--teams", teams, "threads of rondo and naive; the others have one");
  app.add_option("--window", window, "frames under way at the same time, of rondo");
  app.add_option("--frames", frames)->check(CLI::PositiveNumber);
  app.add_option("--png", png, "of cairo: writes the picture");
  app.add_flag("--shapes", shapes, "only prints what is drawn");
  CLI11_PARSE(app, argc, argv);
  if (shapes) return print_shapes(s), 0;
  try {
    auto o = !s.composite.empty() ? composite_by_rondo(s, teams, frames, window)
             : way == "rondo"     ? draw_by_rondo(s, teams, frames, window)
             : way == "naive"     ? draw_naively(s, teams, frames)
             : way == "cairo"     ? draw_by_cairo(s, frames, png)
             : way == "agg"       ? draw_by_agg(s, frames, png)
                                  : draw_by_opencv(s, frames, png);
    std::ranges::sort(o.ms);
    auto const name = std::filesystem::path(app.get_config_ptr()->as<std::string>()).stem().string();
    fmt::print(
        R"({{"scene": "{}", "by": "{}", "width": {}, "height": {}, "threads": {}, "window": {}, "frames": {}, "ms": {:.3f}, "slowest_ms": {:.3f}, "cpu_ms": {:.3f}, "touched": {:.3f}}})"
        "\n",
        name, way, s.width, s.height, way == "rondo" || way == "naive" ? teams : 1, window, frames,
        o.ms[o.ms.size() / 2], o.ms.back(), o.cpu_ms, touched_share(s));
  } catch (std::exception const& e) {
    fmt::print(stderr, "bench_render --by {}: {}\n", way, e.what());
    return 1;
  }
}
