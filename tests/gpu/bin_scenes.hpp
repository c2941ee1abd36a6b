// Shapes whose bins are compared with those of the portable sort.
#pragma once

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "bench/render/portable_bins.hpp"

namespace bin_scenes {

using rondo::pixels::box_shape;
using rondo::pixels::segment;
using rondo::video::bin_limits;

template <class Shape>
struct scene {
  std::string name;
  std::vector<Shape> shapes;
  bin_limits limits;
  bool finds_room = true;  // for all of them
};

/// Between (x0, y0) and (x1, y1): a line as wide as `stroke`, or a box with such a stroke.
inline void add(std::vector<segment>& to, float x0, float y0, float x1, float y1, float stroke) {
  to.push_back(rondo::pixels::segment_between(x0, y0, x1, y1, stroke / 2 + 0.51F,
                                              static_cast<std::int32_t>(to.size())));
}
inline void add(std::vector<box_shape>& to, float x0, float y0, float x1, float y1, float stroke) {
  to.push_back({(x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) / 2, (y1 - y0) / 2, 3, stroke / 2, {}, {}});
}
inline void hide(segment& s) { s.stroke = -1; }
inline void hide(box_shape& b) { b.half_width = -1; }

/// `most`: shapes of the largest scene.
template <class Shape>
std::vector<scene<Shape>> all_scenes(std::uint64_t seed, std::int32_t width, std::int32_t height,
                                     std::uint32_t most) {
  std::mt19937_64 random(seed);
  auto const below = [&](float limit) { return std::uniform_real_distribution<float>(0, limit)(random); };
  auto const w = static_cast<float>(width), h = static_cast<float>(height);
  std::vector<scene<Shape>> all;
  auto const next = [&](char const* name, std::uint32_t room, std::uint32_t each = 1) -> std::vector<Shape>& {
    return all.emplace_back(scene<Shape>{name, {}, {room, width, height, each}}).shapes;
  };

  next("no shapes, and no room for any", 0);
  next("no shapes", 10);
  add(next("one shape", 1), w / 3, h / 3, w / 2, h / 2, 3);
  auto& hidden = next("one shape that is not drawn", 1);
  add(hidden, w / 3, h / 3, w / 2, h / 2, 3);
  hide(hidden[0]);
  auto& one_tile = next("all shapes in one tile", 100);
  for (int n = 0; n < 100; ++n) add(one_tile, 70, 70, 71 + below(40), 71 + below(40), 1);
  auto& outside = next("all shapes outside", 8);
  for (auto const far : {1e6F, 30000.F})
    add(outside, -far, 1, -100, 20, 3), add(outside, w + 100, 1, w + far, 20, 3),
        add(outside, 1, -far, 20, -100, 3), add(outside, 1, h + 100, 20, h + far, 3);
  auto& covering = next("shapes that cover all, some of which find no room", 40);
  for (int n = 0; n < 40; ++n) add(covering, 0, h / 2, w, h / 2 + 1, 2 * (w + h));
  all.back().finds_room = false;
  auto& groups = next("groups of seven in the upper half, some of which find no room", 45, 7);
  for (int n = 0; n < 45; ++n) add(groups, below(w / 2), h / 8 + below(h / 8), w, h / 4, h / 4);
  all.back().finds_room = false;
  auto& exact =
      all.emplace_back(scene<Shape>{"shapes for which the room is exactly enough", {}, {8, 256, 256}}).shapes;
  for (int n = 0; n < 8; ++n) add(exact, 0, 100, 256, 101, 2000);
  auto& corner = next("the last tile alone", 3);
  add(corner, w - 2, h - 2, w - 1, h - 1, 0.5F);
  auto& long_ones = next("long shapes, partly outside", most / 2 + 1);
  for (std::uint32_t n = 0; n < most / 2; ++n) {
    auto const x = below(3 * w) - w, y = below(3 * h) - h;
    add(long_ones, x, y, x + below(w), y + below(h / 8), below(9));
  }
  auto& small = next("small shapes, some not drawn", most);
  for (std::uint32_t n = 0; n < most; ++n) {
    auto const x = below(w), y = below(h);
    add(small, x, y, x + below(90), y + below(90), below(5));
    if (n % 5 == 0) hide(small.back());
  }
  return all;
}

}  // namespace bin_scenes
