// For the tests of drawing: pictures in the format of videos, the same in double precision, and those that cairo draws.
#pragma once

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "actors/video/overlay/tile_layer.hpp"
#include "actors/video/pixels/image.hpp"
#include "kernels/pixels/block.hpp"
#include "tests/catch.hpp"

namespace overlay_test {

/// I420, its planes padded as a stage's are, filled with noise.
class picture {
 public:
  picture(std::int32_t width, std::int32_t height, std::uint32_t seed = 1)
      : about{width, height}, data_(about.bytes() / 64 + 1) {
    std::mt19937 random{seed};
    for (auto& one : data_)
      for (auto& b : one.bytes) b = static_cast<std::uint8_t>(random() % 256);
  }
  rondo::pixels::drawn_planes planes() {
    auto const p = rondo::video::planes_at(about, bytes());
    return {p.of[0].data,   p.of[1].data, p.of[2].data, p.of[0].stride,
            p.of[1].stride, about.width,  about.height};
  }
  rondo::video::image_view<std::uint8_t> plane(int n) const {
    return rondo::video::planes_at(about, reinterpret_cast<std::byte const*>(data_.data())).of[n];
  }
  std::byte* bytes() { return reinterpret_cast<std::byte*>(data_.data()); }

  rondo::video::image about;

 private:
  struct alignas(64) line {
    std::uint8_t bytes[64];
  };
  std::vector<line> data_;
};

/// The same picture with a colour for each pixel, on which is drawn from the bottom up.
class exact_picture {
 public:
  explicit exact_picture(picture const& from) : width_(from.about.width), height_(from.about.height) {
    for (int p = 0; p < 3; ++p)
      for (std::int32_t y = 0; y < height_; ++y)
        for (std::int32_t x = 0; x < width_; ++x)
          samples_[p].push_back(from.plane(p).at(p == 0 ? x : x / 2, p == 0 ? y : y / 2));
  }
  /// coverage(x, y): of the pixel with this centre.
  template <class Coverage>
  void blend(rondo::pixels::ink const& k, Coverage const& coverage) {
    double const inks[] = {k.y, k.u, k.v};
    for (std::int32_t y = 0; y < height_; ++y)
      for (std::int32_t x = 0; x < width_; ++x) {
        auto const a = coverage(x + 0.5, y + 0.5) * k.opacity;
        for (int p = 0; p < 3; ++p) {
          auto& s = samples_[p][index(x, y)];
          s += (inks[p] - s) * a;
        }
      }
  }
  /// The largest difference of a sample.
  double largest_difference(picture const& from) const {
    double most = 0;
    for (int p = 0; p < 3; ++p) {
      auto const plane = from.plane(p);
      for (std::int32_t y = 0; y < plane.height; ++y)
        for (std::int32_t x = 0; x < plane.width; ++x)
          most = std::max(most, std::abs(plane.at(x, y) - at(p, x, y)));
    }
    return most;
  }

 private:
  std::size_t index(std::int32_t x, std::int32_t y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }
  double at(int plane, std::int32_t x, std::int32_t y) const {
    auto const& s = samples_[plane];
    if (plane == 0) return s[index(x, y)];
    return (s[index(2 * x, 2 * y)] + s[index(2 * x + 1, 2 * y)] + s[index(2 * x, 2 * y + 1)] +
            s[index(2 * x + 1, 2 * y + 1)]) /
           4;
  }
  std::int32_t width_, height_;
  std::vector<double> samples_[3];
};

inline double clamped(double x, double low, double high) { return std::min(std::max(x, low), high); }

/// Random scenes.
class maker {
 public:
  explicit maker(std::uint32_t seed) : random_(seed) {}

  float within(float low, float high) { return std::uniform_real_distribution<float>{low, high}(random_); }
  std::uint32_t number(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  rondo::pixels::ink ink() { return {within(0, 255), within(0, 255), within(0, 255), within(0, 1)}; }
  overlay_test::picture picture() {
    return {16 + 2 * static_cast<std::int32_t>(number(120)), 16 + 2 * static_cast<std::int32_t>(number(90))};
  }

 private:
  std::mt19937 random_;
};

/// All steps of a tile_layer, the parts of each in the wrong order, with so many lanes, one after the other.
template <class Shape, class Make, class How>
void draw_in_tiles(picture& on, std::uint32_t groups, std::uint32_t each, Make const& make, How const& how,
                   std::uint32_t lanes) {
  using layer_of = rondo::video::tile_layer<Shape>;
  rondo::video::carver measure(nullptr);
  layer_of(measure, groups * each, on.about.width, on.about.height);
  std::vector<std::byte> bytes(measure.used() + 64);
  rondo::video::carver memory(bytes.data() + (64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64) % 64);
  layer_of layer(memory, groups * each, on.about.width, on.about.height);
  for (auto p = layer.begin(groups, each); p-- > 0;) layer.count(p, make);
  for (auto p = layer.join(); p-- > 0;) layer.put(p);
  rondo::team_shared shared{};
  for (auto n = layer.touched(); n-- > 0;)
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      layer.draw(rondo::team{0, lane, lanes, shared}, on.planes(), how, n);
}
/// The same of shapes that are there.
template <class Shape, class How>
void draw_in_tiles(picture& on, std::vector<Shape> const& all, How const& how, std::uint32_t lanes) {
  draw_in_tiles<Shape>(
      on, static_cast<std::uint32_t>(all.size()), 1, [&](std::uint32_t n, Shape* to) { *to = all[n]; }, how,
      lanes);
}

/// Compares the brightness of a picture, from 0 to 255, with the opacities that cairo has drawn: the mean difference is
/// at most half of 255, and at most one of a hundred pixels at edges is off by more than 0.1.
inline void looks_alike(cairo_surface_t* by_cairo, picture const& p) {
  cairo_surface_flush(by_cairo);
  double sum = 0;
  int edges = 0, off = 0, worst = 0;
  auto const* const data = cairo_image_surface_get_data(by_cairo);
  auto const stride = cairo_image_surface_get_stride(by_cairo);
  for (std::int32_t y = 0; y < p.about.height; ++y)
    for (std::int32_t x = 0; x < p.about.width; ++x) {
      int const theirs = data[y * stride + x], ours = p.plane(0).at(x, y), d = std::abs(theirs - ours);
      sum += d;
      worst = std::max(worst, d);
      bool const is_edge = (theirs > 0 && theirs < 255) || (ours > 0 && ours < 255);
      edges += is_edge;
      off += is_edge && d > 25;
    }
  auto const mean = sum / p.about.width / p.about.height;
  INFO("mean difference " << mean << " of 255; of " << edges << " pixels at edges, " << off
                          << " differ by more than 0.1; the worst by " << worst);
  CHECK(mean <= 0.5);
  CHECK(off <= edges / 100);
}

}  // namespace overlay_test
