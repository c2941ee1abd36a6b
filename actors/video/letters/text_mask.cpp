#include "actors/video/letters/text_mask.hpp"

#include <algorithm>

#include "actors/video/letters/font.hpp"

namespace rondo::video {

namespace {

/// A letter, drawn.
struct letter {
  std::int32_t left, top, width, height;  // in the picture
  std::size_t first;                      // of its opacities, row by row
};
struct letters {
  std::vector<letter> all;
  std::vector<std::uint8_t> opacities;
};

letters draw_letters(font const& with, std::string_view text, std::int32_t x, std::int32_t y) {
  letters drawn;
  auto const& metrics = with.metrics();
  FT_Pos pen = FT_Pos{x} * 64, base = FT_Pos{y} * 64 + metrics.ascender;
  FT_UInt before = 0;
  while (!text.empty()) {
    auto const point = take_code_point(text);
    if (point == U'\n') {
      pen = FT_Pos{x} * 64;
      base += metrics.height;
      before = 0;
      continue;
    }
    auto const glyph = FT_Get_Char_Index(with.face(), point);
    pen += with.kerning(before, glyph);
    before = glyph;
    if (FT_Load_Glyph(with.face(), glyph, FT_LOAD_RENDER) != 0)
      continue;  // a letter that is damaged in the font
    auto const& slot = *with.face()->glyph;
    auto const& bitmap = slot.bitmap;
    drawn.all.push_back({static_cast<std::int32_t>(pen / 64) + slot.bitmap_left,
                         static_cast<std::int32_t>(base / 64) - slot.bitmap_top,
                         static_cast<std::int32_t>(bitmap.width), static_cast<std::int32_t>(bitmap.rows),
                         drawn.opacities.size()});
    for (unsigned row = 0; row < bitmap.rows; ++row) {
      auto const* const from = bitmap.buffer + static_cast<std::ptrdiff_t>(row) * bitmap.pitch;
      drawn.opacities.insert(drawn.opacities.end(), from, from + bitmap.width);
    }
    pen += slot.advance.x;
  }
  return drawn;
}

}  // namespace

text_mask::text_mask(std::string const& font, std::int32_t size, std::int32_t width, std::int32_t height)
    : font_(std::make_unique<video::font>(font, size)), width_(width), height_(height) {}
text_mask::~text_mask() = default;

void text_mask::draw(std::string_view text, std::int32_t x, std::int32_t y, std::uint8_t opacity) {
  auto const drawn = draw_letters(*font_, text, x, y);
  std::int32_t left = width_, top = height_, right = 0, bottom = 0;
  for (auto const& l : drawn.all) {
    if (l.width == 0 || l.height == 0) continue;
    left = std::min(left, l.left), right = std::max(right, l.left + l.width);
    top = std::min(top, l.top), bottom = std::max(bottom, l.top + l.height);
  }
  // Even, so that both planes have whole samples; the picture's size is even, too.
  left = std::max(left, 0) & ~1, top = std::max(top, 0) & ~1;
  right = (std::min(right, width_) + 1) & ~1, bottom = (std::min(bottom, height_) + 1) & ~1;
  full_ = {left, top, std::max(right - left, 0), std::max(bottom - top, 0)};
  if (full_.width == 0 || full_.height == 0) full_ = {};
  half_ = {full_.left / 2, full_.top / 2, full_.width / 2, full_.height / 2};
  full_.opacities.assign(static_cast<std::size_t>(full_.width) * static_cast<std::size_t>(full_.height), 0);
  half_.opacities.resize(full_.opacities.size() / 4);
  auto const at = [](area const& a, std::int32_t column, std::int32_t row) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(a.width) +
           static_cast<std::size_t>(column);
  };
  for (auto const& l : drawn.all)
    for (std::int32_t row = std::max(top - l.top, 0); row < l.height && l.top + row < bottom; ++row)
      for (std::int32_t column = std::max(left - l.left, 0); column < l.width && l.left + column < right;
           ++column) {
        auto const covered = drawn.opacities[l.first + static_cast<std::size_t>(row * l.width + column)];
        auto& to = full_.opacities[at(full_, l.left + column - left, l.top + row - top)];
        to = std::max(to, static_cast<std::uint8_t>((covered * opacity + 127) / 255));
      }
  for (std::int32_t row = 0; row < half_.height; ++row)
    for (std::int32_t column = 0; column < half_.width; ++column) {
      auto const* const from = &full_.opacities[at(full_, 2 * column, 2 * row)];
      half_.opacities[at(half_, column, row)] =
          static_cast<std::uint8_t>((from[0] + from[1] + from[full_.width] + from[full_.width + 1] + 2) / 4);
    }
}

}  // namespace rondo::video
