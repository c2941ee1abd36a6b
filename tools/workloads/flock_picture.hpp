// A picture of a flock: the whole world, dark, with light where agents are. The colour shows in which direction they
// fly.
#pragma once

#include <span>
#include <vector>

#include "actors/video/pixels/image.hpp"
#include "actors/workloads/boids.hpp"

namespace rondo::tools {

class flock_picture {
 public:
  static constexpr std::int32_t side = 1080;
  /// Red, green and blue, added up.
  struct light {
    float r, g, b;
  };

  /// `rate`: pictures a second, for a video.
  explicit flock_picture(std::uint32_t rate);

  video::image const& about() const noexcept { return about_; }
  /// The picture that was drawn last.
  std::byte const* data() const noexcept { return bytes_.data(); }
  void draw(std::span<workloads::agent const> agents);

 private:
  void develop(float exposure);

  video::image about_;
  std::vector<std::byte> bytes_;
  std::vector<light> lights_;  // of each pixel
};

}  // namespace rondo::tools
