// A text as a mask: how much of each pixel of a picture its letters cover. FreeType draws them.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::video {

class text_mask {
 public:
  /// `font`: a file that FreeType knows; empty: DejaVu Sans, where systems keep it. `size`: pixels from one line to the
  /// next, nearly. `width`, `height`: of the picture. Throws std::runtime_error, with the file's name.
  text_mask(std::string const& font, std::int32_t size, std::int32_t width, std::int32_t height);
  ~text_mask();
  text_mask(text_mask const&) = delete;
  text_mask& operator=(text_mask const&) = delete;

  /// Draws a text in UTF-8, which may have several lines, with its upper left corner at `x`, `y`. What lies outside the
  /// picture is cut off. `opacity`: of letters, where they cover a pixel completely.
  void draw(std::string_view text, std::int32_t x, std::int32_t y, std::uint8_t opacity);

  /// A rectangle of the picture, or of a plane with half as many samples in each direction.
  struct area {
    std::int32_t left = 0, top = 0, width = 0, height = 0;
    std::vector<std::uint8_t> opacities{};  // row by row
  };
  area const& full() const noexcept { return full_; }
  /// The means of four opacities each.
  area const& half() const noexcept { return half_; }

 private:
  std::unique_ptr<class font> font_;
  std::int32_t width_, height_;
  area full_, half_;
};

}  // namespace rondo::video
