// A rectangle of characters with a meaning each, for a terminal or a file. It knows nothing of colours: whoever shows it
// gives each style one.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::tools {

/// What a cell means.
enum class style : std::uint8_t {
  plain,
  title,    // the first line
  strong,   // numbers to look at
  dim,      // what explains them
  heading,  // of a table or a section
  chosen,   // the heading by which a table is ordered
  key,      // to press
  good,
  warning,
  bad,
  bar,    // filled parts
  track,  // and their rest
  spark,  // how it went before
  heat0,  // few ...
  heat1,
  heat2,
  heat3,
  heat4,
  heat5,
  heat6,
  heat7,  // ... many
};
inline constexpr int styles = 21;
inline constexpr int heats = 8;
constexpr style heat(int level) noexcept {
  return static_cast<style>(static_cast<int>(style::heat0) + level);
}

struct grid_cell {
  char32_t glyph = U' ';  // 0: the right half of the one before
  style look = style::plain;
  bool selected = false;
};

class text_grid {
 public:
  text_grid(int width, int height);

  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  grid_cell const& at(int row, int column) const { return cells_[index(row, column)]; }

  /// Writes UTF-8 text, cut at `limit` columns and at the edge; rows and columns outside are ignored. Returns the column
  /// after it.
  int put(int row, int column, std::string_view text, style look = style::plain, int limit = 1 << 20);
  /// The same, ending before column `end`; text that is longer than `width` loses its end.
  void put_right(int row, int end, int width, std::string_view text, style look = style::plain);
  void put_glyph(int row, int column, char32_t glyph, style look = style::plain);
  /// Text longer than `width` ends with `ellipsis`.
  void put_cut(int row, int column, int width, std::string_view text, style look, char32_t ellipsis);
  void fill(int row, int column, int width, char32_t glyph, style look = style::plain);
  void select_row(int row);
  /// `what`, at this place.
  void overlay(int row, int column, text_grid const& what);

 private:
  bool has(int row, int column) const noexcept {
    return row >= 0 && row < height_ && column >= 0 && column < width_;
  }
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(column);
  }

  int width_, height_;
  std::vector<grid_cell> cells_;
};

/// Columns that a terminal gives it.
int width_of(std::string_view text);
std::string to_utf8(char32_t glyph);
/// Lines without spaces at their end.
std::string to_text(text_grid const& grid);
/// With the escapes of a terminal that knows 256 colours.
std::string to_ansi(text_grid const& grid);
/// One of 256 colours for each style, -1: the terminal's own; and whether it is bold.
struct style_colour {
  int colour;
  bool bold;
};
style_colour colour_of(style look) noexcept;

}  // namespace rondo::tools
