// A picture that a command draws by itself: dots, lines and texts, by what stages draw with.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/video/pixels/colours.hpp"
#include "actors/video/pixels/image.hpp"

namespace rondo::tools {

class canvas {
 public:
  struct place {
    float x, y;
  };
  /// Width and height are even numbers.
  canvas(std::int32_t width, std::int32_t height, video::rgb background);

  std::int32_t width() const noexcept { return about_.width; }
  std::int32_t height() const noexcept { return about_.height; }
  void dots(std::span<place const> at, float radius, video::rgb colour, float opacity = 1);
  /// From each place to the next.
  void line(std::span<place const> through, float width_px, video::rgb colour);
  /// `align`: the part of its width that is left of `at`.
  void text(place at, std::string_view text, video::rgb colour, float align = 0);
  /// Throws command_error if the file cannot be written.
  void write(std::string const& file) const;

  /// From a letter's top to its bottom.
  static constexpr std::int32_t capital = 14;

 private:
  template <class Shape, class How>
  void draw(std::vector<Shape> const& shapes, How const& how);
  pixels::ink ink_of(video::rgb colour, float opacity) const;

  video::image about_;
  std::vector<std::byte> bytes_;
};

}  // namespace rondo::tools
