// The shapes of a scene, as stages make them of its lines and boxes.
#pragma once

#include "bench/render/scene.hpp"
#include "kernels/pixels/overlay/boxes.hpp"
#include "kernels/pixels/overlay/strokes.hpp"

namespace render_bench {

/// White, with round ends.
inline rondo::pixels::stroke_style style_of(scene const& s) {
  return {{235, 128, 128, s.opacity}, s.stroke_px / 2, 1, rondo::pixels::end_round, 0};
}
/// Each line is a stroke.
inline std::vector<rondo::pixels::segment> lines_of(scene const& s) {
  auto const reach = rondo::pixels::reach_of(style_of(s));
  std::vector<rondo::pixels::segment> lines;
  for (auto const& e : s.all_edges())
    lines.push_back(rondo::pixels::segment_between(e.x0, e.y0, e.x1, e.y1, reach,
                                                   static_cast<std::int32_t>(lines.size())));
  return lines;
}
/// Orange, with a white stroke.
inline std::vector<rondo::pixels::box_shape> boxes_of(scene const& s) {
  std::vector<rondo::pixels::box_shape> boxes;
  for (auto const& b : s.all_boxes())
    boxes.push_back({b.x + b.width / 2,
                     b.y + b.height / 2,
                     b.width / 2,
                     b.height / 2,
                     s.radius_of(b),
                     s.stroke_px / 2,
                     {160, 80, 180, s.fill_opacity},
                     {235, 128, 128, s.opacity}});
  return boxes;
}

}  // namespace render_bench
