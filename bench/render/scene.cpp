#include "bench/render/scene.hpp"

#include <CLI/CLI.hpp>
#include <cmath>

#include "actors/video/overlay/chance.hpp"

namespace render_bench {

using namespace rondo::video;

namespace {

/// Numbers from 0 to 1 that depend on the seed, on what they are for, and on the item.
struct source {
  std::uint32_t seed, what;
  float operator()(std::uint32_t item, std::uint32_t which) const {
    return part_of_one(chance(seed, what, item, which));
  }
};

}  // namespace

void scene::describe(CLI::App& app) {
  app.add_option("--width", width);
  app.add_option("--height", height);
  app.add_option("--seed", seed);
  app.add_option("--within", within, "the part of the height, from the top, where shapes begin");
  app.add_option("--points", points);
  app.add_option("--k", k, "links of a point");
  app.add_option("--lines", lines);
  app.add_option("--curves", curves);
  app.add_option("--samples", samples, "points of a curve");
  app.add_option("--shortest", shortest, "edge, in pixels");
  app.add_option("--longest", longest);
  app.add_option("--stroke_px", stroke_px);
  app.add_option("--opacity", opacity, "of lines, curves and strokes");
  app.add_option("--boxes", boxes);
  app.add_option("--smallest", smallest, "side of a box, in pixels");
  app.add_option("--largest", largest);
  app.add_option("--fill_opacity", fill_opacity);
  app.add_option("--roundness", roundness);
  app.add_option("--composite", composite, "puts a layer over the picture: i420a or rgba_f16")
      ->check(CLI::IsMember({"i420a", "rgba_f16"}));
  app.add_option("--mode", mode, "how it is blended")->check(CLI::IsMember({"normal", "add", "overlay"}));
  app.add_option("--covered", covered, "the part of the layer's tiles that show something");
}

std::vector<point> scene::all_points() const {
  source const random{seed, 1};
  std::vector<point> all;
  for (std::uint32_t i = 0; i < points; ++i)
    all.push_back({i, random(i, 0) * static_cast<float>(width),
                   random(i, 1) * static_cast<float>(height) * within, 0, 0});
  return all;
}

std::vector<edge> scene::all_edges() const {
  source const random{seed, 2};
  std::vector<edge> all;
  auto const w = static_cast<float>(width), h = static_cast<float>(height) * within;
  for (std::uint32_t i = 0; i < lines + curves; ++i) {
    auto const length = shortest + (longest - shortest) * random(i, 0), angle = 6.2831853F * random(i, 1);
    auto const x = random(i, 2) * w, y = random(i, 3) * h;
    auto const to = [](float at, float most) { return at < 0 ? 0 : at > most ? most : at; };
    all.push_back(
        {2 * i, 2 * i + 1, x, y, to(x + length * std::cos(angle), w), to(y + length * std::sin(angle), h)});
  }
  return all;
}

std::vector<box> scene::all_boxes() const {
  source const random{seed, 3};
  std::vector<box> all;
  for (std::uint32_t i = 0; i < boxes; ++i) {
    auto const w = smallest + (largest - smallest) * random(i, 0),
               h = smallest + (largest - smallest) * random(i, 1);
    all.push_back({i, random(i, 2) * (static_cast<float>(width) - w),
                   random(i, 3) * (static_cast<float>(height) * within - h), w, h});
  }
  return all;
}

float scene::radius_of(box const& b) const {
  return roundness * (b.width < b.height ? b.width : b.height) / 2;
}

}  // namespace render_bench
