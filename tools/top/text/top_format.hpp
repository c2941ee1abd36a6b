// Formats numbers, bars and curves for the cells of a terminal.
//
// Threads: any; no state except the grid that is drawn on.
#pragma once

#include <concepts>
#include <deque>
#include <string>

#include "tools/top/text/text_grid.hpp"

namespace rondo::tools {

/// The characters to draw with.
struct glyphs {
  char32_t full, left_half;  // of a bar
  char32_t const* sparks;    // 8, from the bottom; the last one fills its cell
  char32_t const* shades;    // heats + 1, empty to full; for screens without colours
  char32_t line, dot, circle, half, cross, ellipsis, arrow_down, arrow_up, track, dash, mark;
  char const* micro;
};
glyphs const& unicode_glyphs() noexcept;
glyphs const& ascii_glyphs() noexcept;

/// 7, 7.5, 9999, then three digits and a unit: 12.3k, 4.56M. At most 5 columns.
std::string count_text(double n);
/// 640ns, 4.1µs, 88ms, 2.5s, 3m20s, 5h02m, 4d03h. At most 6 columns. 0 is a dash.
std::string time_text(double ns, glyphs const& g);
/// 512B, 1.5K, 300M, 8.0G: powers of 1024. At most 5 columns.
std::string bytes_text(double bytes);
std::string count_text(std::integral auto n) { return count_text(static_cast<double>(n)); }
std::string time_text(std::integral auto ns, glyphs const& g) {
  return time_text(static_cast<double>(ns), g);
}
std::string bytes_text(std::integral auto bytes) { return bytes_text(static_cast<double>(bytes)); }

/// Fills a share, 0 to 1, of `width` cells.
void put_bar(text_grid& to, int row, int column, int width, double share, style look, glyphs const& g);
/// Draws the newest `width` values, the newest at the right, relative to the largest of them.
void put_spark(text_grid& to, int row, int column, int width, std::deque<float> const& values, style look,
               glyphs const& g);
/// The same over several rows, from zero to the largest value, which is written at the left.
void put_curve(text_grid& to, int row, int column, int width, int height, std::deque<float> const& values,
               style look, glyphs const& g);
/// A horizontal line with a title in it.
void put_section(text_grid& to, int row, int column, int width, std::string_view title, glyphs const& g);

}  // namespace rondo::tools
