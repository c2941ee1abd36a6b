// Letters from outlines beside those that FreeType draws from the font.
#include <ft2build.h>

#include <algorithm>
#include <cmath>
#include <vector>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include "tests/catch.hpp"
#include "tests/streams/letters/made_letters.hpp"

using namespace rondo;

namespace freetype_test {

/// Letters of DejaVu Sans, drawn by FreeType, without hinting, which would move edges to whole pixels.
class dejavu {
 public:
  explicit dejavu(int capital) : capital_(capital) {
    REQUIRE(FT_Init_FreeType(&library_) == 0);
    REQUIRE(FT_New_Face(library_, RONDO_DEJAVU_SANS, 0, &face_) == 0);
  }
  ~dejavu() { FT_Done_FreeType(library_); }
  dejavu(dejavu const&) = delete;
  dejavu& operator=(dejavu const&) = delete;

  /// The coverages, of 255, of a box of pixels from where a letter is written, and the top of capital letters.
  std::vector<unsigned char> drawn(char c, int left, int top, int width, int height) {
    REQUIRE(FT_Load_Char(face_, static_cast<FT_ULong>(c), FT_LOAD_NO_SCALE) == 0);
    auto& outline = face_->glyph->outline;
    // FreeType opens a TrueType font at whole sizes alone, so the outline is scaled here: to 64ths of a pixel.
    auto const scale =
        static_cast<FT_Fixed>(std::lround(64. * 65536 * capital_ / video::letter_outlines::capital_units));
    FT_Matrix const scaled{scale, 0, 0, scale};
    FT_Outline_Transform(&outline, &scaled);
    FT_Outline_Translate(&outline, -64 * left, -64 * (capital_ - top - height));
    std::vector<unsigned char> pixels(static_cast<std::size_t>(width * height));
    FT_Bitmap to{};
    to.rows = static_cast<unsigned>(height);
    to.width = static_cast<unsigned>(width);
    to.pitch = width;
    to.buffer = pixels.data();
    to.num_grays = 256;
    to.pixel_mode = FT_PIXEL_MODE_GRAY;
    REQUIRE(FT_Outline_Get_Bitmap(library_, &outline, &to) == 0);
    return pixels;
  }

 private:
  int capital_;
  FT_Library library_{};
  FT_Face face_{};
};

}  // namespace freetype_test

TEST_CASE("letters look as FreeType draws them", "[letters]") {
  // 12: an em of 16 pixels. 92: what fits 8K.
  int const capital = GENERATE(7, 9, 12, 23, 46, 92);
  test::made_letters const letters(video::letter_sizes{{capital}});
  freetype_test::dejavu font(capital);
  for (char c = '!'; c <= '~'; ++c) {
    INFO("'" << c << "', capital letters of " << capital << " pixels");
    auto const& g = letters.book().face[0].of[pixels::letter_index(c)];
    int const left = g.left - 2, top = g.top - 2, width = g.width + 4, height = g.height + 4;
    auto const theirs = font.drawn(c, left, top, width, height);
    double sum = 0, ink = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        int const their = theirs[static_cast<std::size_t>(y * width + x)];
        double const difference = std::abs(letters.coverage(0, c, left + x, top + y) * 255. / 256 - their);
        REQUIRE(difference < 0.15 * 255);  // FreeType's curves are pieces, too
        sum += difference;
        ink += their;
      }
    REQUIRE(ink > 0);
    // Of what is covered: FreeType's curves have few pieces where letters are small. And of the box.
    CHECK(sum / ink < 0.1);
    CHECK(sum < 0.015 * 255 * (width * height));
  }
}
