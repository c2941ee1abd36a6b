#include "actors/video/letters/glyph_atlas.hpp"

#include <algorithm>

#include "actors/video/letters/font.hpp"

namespace rondo::video {

glyph_atlas::glyph_atlas(std::string const& font, std::int32_t size)
    : font_(std::make_unique<class font>(font, size)) {}
glyph_atlas::~glyph_atlas() = default;

std::int32_t glyph_atlas::line_height() const noexcept {
  return static_cast<std::int32_t>(font_->metrics().height / 64);
}

glyph_atlas::glyph const& glyph_atlas::glyph_of(std::uint32_t index) {
  if (auto const found = glyphs_.find(index); found != glyphs_.end()) return found->second;
  glyph g{};
  if (FT_Load_Glyph(font_->face(), index, FT_LOAD_RENDER) == 0) {  // otherwise it is damaged in the font
    auto const& slot = *font_->face()->glyph;
    auto const& bitmap = slot.bitmap;
    g = {slot.bitmap_left,
         slot.bitmap_top,
         slot.advance.x,
         {0, 0, static_cast<std::int32_t>(bitmap.width), static_cast<std::int32_t>(bitmap.rows),
          static_cast<std::uint32_t>(data_.size())}};
    auto const stride = bitmap.width + 2 * pixels::glyph_margin;
    data_.resize(data_.size() + std::size_t{stride} * bitmap.rows);
    for (unsigned row = 0; row < bitmap.rows; ++row)
      std::copy_n(bitmap.buffer + static_cast<std::ptrdiff_t>(row) * bitmap.pitch, bitmap.width,
                  data_.begin() + g.shape.at + row * stride + pixels::glyph_margin);
  }
  return glyphs_.emplace(index, g).first->second;
}

void glyph_atlas::lay_out(std::string_view line, std::int32_t x, std::int32_t y,
                          std::vector<pixels::glyph_shape>& to) {
  std::int64_t pen = std::int64_t{x} * 64;
  auto const base = y + static_cast<std::int32_t>(font_->metrics().ascender / 64);
  FT_UInt before = 0;
  while (!line.empty()) {
    auto const index = FT_Get_Char_Index(font_->face(), take_code_point(line));
    auto const& g = glyph_of(index);
    pen += font_->kerning(before, index);
    before = index;
    auto shape = g.shape;
    shape.x = static_cast<std::int32_t>(pen / 64) + g.left;
    shape.y = base - g.top;
    if (is_drawn(shape)) to.push_back(shape);
    pen += g.advance;
  }
}

}  // namespace rondo::video
