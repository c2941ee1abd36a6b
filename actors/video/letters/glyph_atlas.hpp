// Letters of a font as pictures of opacities, each drawn by FreeType when it is first needed
// (kernels/pixels/overlay/glyphs.hpp).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/pixels/overlay/glyphs.hpp"

namespace rondo::video {

/// Threads: one at a time; others may read `data` meanwhile if nothing is laid out.
class glyph_atlas {
 public:
  /// As class font.
  glyph_atlas(std::string const& font, std::int32_t size);
  ~glyph_atlas();
  glyph_atlas(glyph_atlas const&) = delete;
  glyph_atlas& operator=(glyph_atlas const&) = delete;

  /// Appends the letters of a line in UTF-8, whose upper left corner is (x, y).
  void lay_out(std::string_view line, std::int32_t x, std::int32_t y, std::vector<pixels::glyph_shape>& to);
  /// Pixels from one line to the next.
  std::int32_t line_height() const noexcept;
  pixels::u8 const* data() const noexcept { return data_.data(); }

 private:
  struct glyph {
    std::int32_t left, top;  // from the pen to its picture, which is so far above the line
    std::int64_t advance;    // in 64ths of a pixel
    pixels::glyph_shape shape;
  };
  glyph const& glyph_of(std::uint32_t index);

  std::unique_ptr<class font> font_;
  std::map<std::uint32_t, glyph> glyphs_;  // by their numbers in the font
  std::vector<pixels::u8> data_;
};

}  // namespace rondo::video
