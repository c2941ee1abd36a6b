// A font that FreeType has opened, at one size. In sources alone: it includes FreeType's headers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <ft2build.h>
#include FT_FREETYPE_H

namespace rondo::video {

/// Threads: one at a time.
class font {
 public:
  /// `file`: one that FreeType knows; empty: DejaVu Sans, where systems keep it. `size`: pixels from one line to the
  /// next, nearly. Throws std::runtime_error, with the file's name.
  font(std::string const& file, std::int32_t size);
  ~font() { FT_Done_FreeType(library_); }  // with its faces
  font(font const&) = delete;
  font& operator=(font const&) = delete;

  FT_Face face() const noexcept { return face_; }
  FT_Size_Metrics const& metrics() const noexcept { return face_->size->metrics; }
  /// How much nearer, in 64ths of a pixel, a letter stands to the one before it; 0: there is none before.
  FT_Pos kerning(FT_UInt before, FT_UInt glyph) const noexcept;

 private:
  FT_Library library_ = nullptr;
  FT_Face face_ = nullptr;
};

/// Takes the first code point off a text in UTF-8 that is not empty; U+FFFD for what is none.
char32_t take_code_point(std::string_view& text);

}  // namespace rondo::video
