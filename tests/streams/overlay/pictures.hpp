// For the tests of drawing: pictures in the format of videos, the same in double precision, and those that cairo draws.
#pragma once

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "actors/video/overlay/tile_layer.hpp"
#include "actors/video/pixels/image.hpp"
#include "kernels/pixels/overlay/block.hpp"
#include "tests/catch.hpp"

namespace overlay_test {

using rondo::video::pixel_format;

/// A picture of a format that is drawn on, its planes padded as a stage's are, filled with noise.
class picture {
 public:
  enum class tiles { none, some, all };
  /// `empty`: which tiles of a layer have no samples.
  picture(std::int32_t width, std::int32_t height, pixel_format format = pixel_format::i420,
          std::uint32_t seed = 1, tiles empty = tiles::some)
      : about{width, height, format}, data_(about.bytes() / 64 + 1) {
    std::mt19937 random{seed};
    if (!about.is_layer()) {
      for (auto& one : data_)
        for (auto& b : one.bytes) b = static_cast<std::uint8_t>(random() % 256);
      return;
    }
    auto const p = layer();
    // What has no samples may be anything, even what is no number.
    std::memset(data_.data(), 0xff, about.bytes());
    for (std::int32_t tile = 0; tile < p.marks.columns * ((height + 63) / 64); ++tile)
      p.marks.of[tile] = empty == tiles::none || (empty == tiles::some && random() % 2 != 0);
    for (std::int32_t n = 0; n < p.stride * height; ++n) {
      if (!rondo::pixels::is_marked(p.marks, n % p.stride, n / p.stride)) continue;
      auto const opacity = static_cast<float>(random() % 4096) / 4095;
      p.opacities[n] = rondo::pixels::to_half(opacity);
      for (auto* const plane : {p.red, p.green, p.blue})
        plane[n] = rondo::pixels::to_half(opacity * static_cast<float>(random() % 256) / 255);
    }
  }
  rondo::pixels::drawn_planes planes() const { return rondo::video::drawn_planes_at(about, bytes()); }
  rondo::pixels::layer_planes layer() const { return rondo::video::layer_planes_at(about, bytes()); }
  rondo::video::image_view<std::uint8_t> plane(int n) const {
    return rondo::video::planes_at(about, bytes()).of[n];
  }
  int channels() const { return about.format == pixel_format::i420 ? 3 : 4; }
  /// How many pixels a channel has for a sample, in each direction.
  int shrink(int channel) const { return !about.is_layer() && (channel == 1 || channel == 2) ? 2 : 1; }
  /// A sample of it.
  double sample(int channel, std::int32_t x, std::int32_t y) const {
    if (!about.is_layer()) return plane(channel).at(x, y);
    auto const p = layer();
    if (!rondo::pixels::is_marked(p.marks, x, y)) return 0;
    auto const* const of = channel == 0   ? p.red
                           : channel == 1 ? p.green
                           : channel == 2 ? p.blue
                                          : p.opacities;
    return double(rondo::pixels::from_half(of[y * p.stride + x]));
  }
  std::byte const* bytes() const { return reinterpret_cast<std::byte const*>(data_.data()); }

  rondo::video::image about;

 private:
  struct alignas(64) line {
    std::uint8_t bytes[64];
  };
  std::vector<line> data_;
};

/// The same picture with all samples for each pixel, on which is drawn from the bottom up.
class exact_picture {
 public:
  explicit exact_picture(picture const& from) : width_(from.about.width), height_(from.about.height) {
    for (int c = 0; c < from.channels(); ++c)
      for (std::int32_t y = 0; y < height_; ++y)
        for (std::int32_t x = 0; x < width_; ++x)
          samples_[c].push_back(from.sample(c, x / from.shrink(c), y / from.shrink(c)));
    most_ = from.about.is_layer() ? 1 : 255;
  }
  /// coverage(x, y): of the pixel with this centre.
  template <class Coverage>
  void blend(rondo::pixels::ink const& k, Coverage const& coverage) {
    double const inks[] = {k.y, k.u, k.v, most_};
    for (std::int32_t y = 0; y < height_; ++y)
      for (std::int32_t x = 0; x < width_; ++x) {
        auto const a = coverage(x + 0.5, y + 0.5) * k.opacity;
        for (int c = 0; c < 4; ++c) {
          if (samples_[c].empty()) continue;
          auto& s = samples_[c][index(x, y)];
          s += (inks[c] - s) * a;
        }
      }
  }
  /// The largest difference of a sample, in parts of what it may be: 0.6 of one of 8 bits, which is rounding and a
  /// little more; of a layer, 1e-3, and 1e-3 of what it is.
  double largest_difference(picture const& from) const {
    double most = 0;
    for (int c = 0; c < from.channels(); ++c)
      for (std::int32_t y = 0; y < height_ / from.shrink(c); ++y)
        for (std::int32_t x = 0; x < width_ / from.shrink(c); ++x) {
          auto const expected = at(c, x, y, from.shrink(c));
          auto const allowed = from.about.is_layer() ? 1e-3 + 1e-3 * std::abs(expected) : 0.6;
          most = std::max(most, std::abs(from.sample(c, x, y) - expected) / allowed);
        }
    return most;
  }

 private:
  std::size_t index(std::int32_t x, std::int32_t y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }
  double at(int channel, std::int32_t x, std::int32_t y, int shrink) const {
    auto const& s = samples_[channel];
    if (shrink == 1) return s[index(x, y)];
    return (s[index(2 * x, 2 * y)] + s[index(2 * x + 1, 2 * y)] + s[index(2 * x, 2 * y + 1)] +
            s[index(2 * x + 1, 2 * y + 1)]) /
           4;
  }
  std::int32_t width_, height_;
  double most_;
  std::vector<double> samples_[4];
};

inline double clamped(double x, double low, double high) { return std::min(std::max(x, low), high); }

/// Random scenes.
class maker {
 public:
  explicit maker(std::uint32_t seed) : random_(seed) {}

  float within(float low, float high) { return std::uniform_real_distribution<float>{low, high}(random_); }
  std::uint32_t number(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  /// For the picture that was made last.
  rondo::pixels::ink ink() { return {within(0, most_), within(0, most_), within(0, most_), within(0, 1)}; }
  /// Of any size, and any format that is drawn on.
  overlay_test::picture picture() {
    constexpr pixel_format formats[] = {pixel_format::i420, pixel_format::i420a, pixel_format::rgba_f16};
    auto const width = 16 + 2 * static_cast<std::int32_t>(number(120)),
               height = 16 + 2 * static_cast<std::int32_t>(number(90));
    overlay_test::picture p(width, height, formats[number(3)]);
    most_ = p.about.is_layer() ? 1 : 255;
    return p;
  }

 private:
  std::mt19937 random_;
  float most_ = 255;
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
  for (auto n = layer.touched(); n-- > 0;) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      rondo::team const team{0, lane, lanes, shared};
      if (on.about.is_layer())
        layer.draw(team, on.layer(), how, n);
      else
        layer.draw(team, on.planes(), how, n);
    }
    if (on.about.is_layer()) layer.mark(on.layer(), n);
  }
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
