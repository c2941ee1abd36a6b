#include "actors/video/letters/font.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

namespace rondo::video {

namespace {

std::string default_font() {
  constexpr char const* places[] = {
      "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
      "/usr/share/fonts/dejavu/DejaVuSans.ttf", "/usr/share/fonts/TTF/DejaVuSans.ttf"};
  for (auto const* place : places)
    if (std::error_code ignored; std::filesystem::exists(place, ignored)) return place;
  throw std::runtime_error(
      "DejaVu Sans is not installed (Debian: fonts-dejavu-core); install it, or name a font file");
}

}  // namespace

font::font(std::string const& name, std::int32_t size) {
  auto const file = name.empty() ? default_font() : name;
  if (FT_Init_FreeType(&library_) != 0) throw std::runtime_error("FreeType cannot start");
  int error = FT_New_Face(library_, file.c_str(), 0, &face_);
  if (error == 0) error = FT_Set_Pixel_Sizes(face_, 0, static_cast<FT_UInt>(size));
  if (error == 0) return;
  FT_Done_FreeType(library_);
  std::error_code ignored;
  throw std::runtime_error(
      std::filesystem::exists(file, ignored)
          ? fmt::format("cannot use the font '{}' with {} pixels: FreeType's error is {}", file, size, error)
          : fmt::format("cannot open the font '{}': there is no such file; check the path", file));
}

FT_Pos font::kerning(FT_UInt before, FT_UInt glyph) const noexcept {
  FT_Vector kerning{};
  if (before == 0 || FT_Get_Kerning(face_, before, glyph, FT_KERNING_DEFAULT, &kerning) != 0) return 0;
  return kerning.x;
}

char32_t take_code_point(std::string_view& text) {
  auto const first = static_cast<unsigned char>(text[0]);
  std::size_t const bytes = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
  char32_t point = bytes == 1 ? first : first & (0x7fu >> bytes);
  bool valid = bytes != 0 && first < 0xf5 && bytes <= text.size();
  for (std::size_t i = 1; valid && i < bytes; ++i) {
    auto const next = static_cast<unsigned char>(text[i]);
    valid = (next & 0xc0) == 0x80;
    point = point << 6 | (next & 0x3f);
  }
  text.remove_prefix(valid ? bytes : 1);
  return valid ? point : 0xfffd;
}

}  // namespace rondo::video
