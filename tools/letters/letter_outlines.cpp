// Writes actors/video/pixels/letter_outlines.hpp from a font file: the outlines of the printable ASCII letters.
//
//   letter_outlines /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf > actors/video/pixels/letter_outlines.hpp
//
// The header is kept with the sources, so that no build needs FreeType or the font; a test compares the two.
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct point {
  long x, y;
  char const* kind;
};
struct letter {
  std::size_t first;
  long advance;
};

void fail(std::string const& what) {
  std::fprintf(stderr, "letter_outlines: %s\n", what.c_str());
  std::exit(1);
}

/// Appends the outline that the face has loaded.
void take_outline(FT_Face face, std::vector<point>& to) {
  static constexpr auto put = [](void* points, FT_Vector const* at, char const* kind) {
    static_cast<std::vector<point>*>(points)->push_back({at->x, at->y, kind});
    return 0;
  };
  FT_Outline_Funcs how{};
  how.move_to = [](FT_Vector const* at, void* all) { return put(all, at, "b"); };
  how.line_to = [](FT_Vector const* at, void* all) { return put(all, at, "t"); };
  how.conic_to = [](FT_Vector const* control, FT_Vector const* at, void* all) {
    return put(all, control, "c") | put(all, at, "t");
  };
  how.cubic_to = [](FT_Vector const*, FT_Vector const*, FT_Vector const*, void*) { return 1; };
  if (FT_Outline_Decompose(&face->glyph->outline, &how, &to) != 0)
    fail("an outline has cubic curves; a TrueType font is needed");
}

/// Prints items, separated by commas, in lines of at most 118 characters.
class wrapped {
 public:
  void put(std::string const& item) {
    if (column_ + item.size() + 1 > 118) std::fputs("\n", stdout), column_ = 0;
    if (column_ == 0) std::fputs("    ", stdout), column_ = 4;
    std::printf("%s,", item.c_str());
    column_ += item.size() + 1;
  }
  void end() {
    std::fputs("\n", stdout);
    column_ = 0;
  }

 private:
  std::size_t column_ = 0;
};

constexpr char const* head =
    R"(// The outlines of the letters ASCII 32 to 126 of %s, made by tools/letters/letter_outlines.cpp.
//
// The font's own licence (tools/letters/LICENCE) allows this. Coordinates are the font's units, upwards from the
// baseline; a capital letter is `capital_units` high. Curves are quadratic.
#pragma once

#include <cstdint>

#include "kernels/base/portable.hpp"

namespace rondo::video::letter_outlines {

/// What a point of an outline does: it begins a contour, ends a line or a curve, or controls the curve to the next one.
enum kind : std::int16_t { b, t, c };
struct point {
  std::int16_t x, y;
  kind is;
};
/// A letter's points are those from `first` up to the first one of the next letter.
struct letter {
  std::int16_t first, advance;
};

constexpr std::int32_t first_character = 32, letter_count = 95, capital_units = %ld;

// clang-format off
/// Of `index` up to letter_count, the end of the last one.
RONDO_HD inline letter letter_at(std::int32_t index) {
  static constexpr letter all[] = {
)";

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) fail("call it with a font file, such as DejaVuSans.ttf");
  FT_Library library{};
  FT_Face face{};
  if (FT_Init_FreeType(&library) != 0) fail("FreeType cannot start");
  if (FT_New_Face(library, arguments[1], 0, &face) != 0)
    fail(std::string("FreeType cannot open ") + arguments[1]);
  std::vector<point> points;
  std::vector<letter> letters;
  long capital = 0;
  for (unsigned long character = 32; character < 127; ++character) {
    if (FT_Load_Char(face, character, FT_LOAD_NO_SCALE) != 0) fail("a letter cannot be loaded");
    letters.push_back({points.size(), face->glyph->advance.x});
    take_outline(face, points);
    if (character == 'H') capital = face->glyph->metrics.horiBearingY;
  }
  letters.push_back({points.size(), 0});
  auto const name = std::string(face->family_name) + " " + face->style_name;
  std::printf(head, name.c_str(), capital);
  wrapped out;
  for (auto const& l : letters)
    out.put("{" + std::to_string(l.first) + "," + std::to_string(l.advance) + "}");
  out.end();
  std::printf(
      "  };\n  return all[index];\n}\n"
      "/// Points of all letters, one after the other.\n"
      "RONDO_HD inline point point_at(std::int32_t index) {\n  static constexpr point all[] = {\n");
  for (auto const& p : points)
    out.put("{" + std::to_string(p.x) + "," + std::to_string(p.y) + "," + p.kind + "}");
  out.end();
  std::printf(
      "  };\n  return all[index];\n}\n// clang-format on\n\n}  // namespace "
      "rondo::video::letter_outlines\n");
  FT_Done_FreeType(library);
}
