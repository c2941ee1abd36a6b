// A rectangle of characters, each with a style, for a terminal or a file. The code that shows it assigns colours to the
// styles.
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
  strong,   // important numbers
  dim,      // labels
  heading,  // of a table or a section
  chosen,   // the heading of the column that a table is sorted by
  key,      // a key to press
  good,
  warning,
  bad,
  bar,    // filled parts
  track,  // unfilled parts
  spark,  // history
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
  char32_t glyph = U' ';  // 0: the right half of a wide character
  style look = style::plain;
  bool selected = false;
};

class text_grid {
 public:
  text_grid(int width, int height);

  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  grid_cell const& at(int row, int column) const { return cells_[index(row, column)]; }

  /// Writes UTF-8 text, cut at `limit` columns and at the edge; rows and columns outside are ignored. Returns the
  /// column after the text.
  int put(int row, int column, std::string_view text, style look = style::plain, int limit = 1 << 20);
  /// The same, ending before column `end`; text longer than `width` is cut at its end.
  void put_right(int row, int end, int width, std::string_view text, style look = style::plain);
  void put_glyph(int row, int column, char32_t glyph, style look = style::plain);
  /// Text longer than `width` ends with `ellipsis`.
  void put_cut(int row, int column, int width, std::string_view text, style look, char32_t ellipsis);
  void fill(int row, int column, int width, char32_t glyph, style look = style::plain);
  void select_row(int row);
  /// Copies `what` to this place.
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

/// The number of terminal columns of a text.
int width_of(std::string_view text);
std::string to_utf8(char32_t glyph);
/// Lines without trailing spaces.
std::string to_text(text_grid const& grid);
/// With escape sequences for a terminal with 256 colours.
std::string to_ansi(text_grid const& grid);
/// A style's colour of 256, its colour of the basic eight (-1: the terminal's default), and whether it is bold.
struct style_colour {
  short colour, basic;
  bool bold;
};
style_colour colour_of(style look) noexcept;

}  // namespace rondo::tools
