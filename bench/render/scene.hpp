// What is drawn: a picture's size, and points, lines, curves and boxes in places that the seed determines.
#pragma once

#include <string>
#include <vector>

#include "actors/video/overlay/lists.hpp"

namespace CLI {
class App;
}

namespace render_bench {

/// The files *.ini in this folder say all of it. Lengths are in pixels, opacities from 0 to 1.
struct scene {
  std::int32_t width = 3840, height = 2160;
  std::uint32_t seed = 1;
  float within = 1;  // the part of the picture's height, from the top, where shapes begin

  std::uint32_t points = 0, k = 5;  // each is linked with k others
  std::uint32_t lines = 0, curves = 0, samples = 50;
  float shortest = 200, longest = 500;  // of an edge
  float stroke_px = 3, opacity = 0.8F;
  std::uint32_t boxes = 0;
  float smallest = 60, largest = 300, fill_opacity = 0.25F, roundness = 0.3F;  // of a box: its sides

  std::string composite;  // a layer's format: nothing is drawn, but a layer is put over the picture
  std::string mode = "normal";
  float covered = 0.1F;  // the part of the layer's tiles that show something

  /// The options of a file or a command line.
  void describe(CLI::App& app);
  std::vector<rondo::video::point> all_points() const;
  /// Lines, or curves.
  std::vector<rondo::video::edge> all_edges() const;
  std::vector<rondo::video::box> all_boxes() const;
  /// The radius of the corners of a box.
  float radius_of(rondo::video::box const& b) const;
};

/// A way to draw it. Colours: white strokes, orange boxes.
struct outcome {
  std::vector<double> ms;  // of each frame, on the clock
  double cpu_ms = 0;       // of a frame, of all threads
  double touched = 0;      // the share of tiles on which something is drawn; 0: not known
};
outcome draw_by_rondo(scene const& s, std::uint32_t teams, std::uint32_t frames, std::uint32_t window);
/// Puts a layer over the picture.
outcome composite_by_rondo(scene const& s, std::uint32_t teams, std::uint32_t frames, std::uint32_t window);
/// Every pixel of the picture tests every shape, on `threads` threads, in the same loops.
outcome draw_naively(scene const& s, std::uint32_t threads, std::uint32_t frames);
outcome draw_by_cairo(scene const& s, std::uint32_t frames, std::string const& png);
outcome draw_by_agg(scene const& s, std::uint32_t frames, std::string const& png);
outcome draw_by_opencv(scene const& s, std::uint32_t frames, std::string const& png);

}  // namespace render_bench
