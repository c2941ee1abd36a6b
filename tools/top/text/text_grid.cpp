#include "tools/top/text/text_grid.hpp"

#include <fmt/format.h>
#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <boost/locale/utf.hpp>
#include <iterator>

#include "runtime/text/clean_text.hpp"

namespace rondo::tools {

namespace {

/// Columns of a character on a terminal, whatever the program's locale is.
int columns_of(char32_t c) noexcept {
  static locale_t const utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 == nullptr) return 1;
  auto const before = uselocale(utf8);
  auto const columns = wcwidth(static_cast<wchar_t>(c));
  uselocale(before);
  return columns < 0 ? 1 : columns;
}

}  // namespace

text_grid::text_grid(int width, int height)
    : width_(std::max(width, 0)),
      height_(std::max(height, 0)),
      cells_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_)) {}

void text_grid::put_glyph(int row, int column, char32_t glyph, style look) {
  if (has(row, column)) cells_[index(row, column)] = {glyph, look, cells_[index(row, column)].selected};
}

int text_grid::put(int row, int column, std::string_view text, style look, int limit) {
  int const end = std::min(limit > width_ ? width_ : column + limit, width_);
  while (!text.empty()) {
    auto const glyph = take_character(text);
    int const wide = columns_of(glyph);
    if (wide == 0) continue;
    if (column + wide > end) break;
    put_glyph(row, column, glyph, look);
    if (wide == 2) put_glyph(row, column + 1, 0, look);
    column += wide;
  }
  return column;
}

void text_grid::put_right(int row, int end, int width, std::string_view text, style look) {
  int const wide = std::min(rondo::tools::width_of(text), width);
  put(row, end - wide, text, look, wide);
}

void text_grid::put_cut(int row, int column, int width, std::string_view text, style look,
                        char32_t ellipsis) {
  if (rondo::tools::width_of(text) <= width) {
    put(row, column, text, look, width);
    return;
  }
  int const end = put(row, column, text, look, width - 1);
  put_glyph(row, end, ellipsis, look);
}

void text_grid::fill(int row, int column, int width, char32_t glyph, style look) {
  for (int c = column; c < column + width; ++c) put_glyph(row, c, glyph, look);
}

void text_grid::select_row(int row) {
  for (int c = 0; c < width_; ++c)
    if (has(row, c)) cells_[index(row, c)].selected = true;
}

void text_grid::overlay(int row, int column, text_grid const& what) {
  for (int r = 0; r < what.height(); ++r)
    for (int c = 0; c < what.width(); ++c)
      if (has(row + r, column + c)) cells_[index(row + r, column + c)] = what.at(r, c);
}

int width_of(std::string_view text) {
  int sum = 0;
  while (!text.empty()) sum += columns_of(take_character(text));
  return sum;
}

std::string to_utf8(char32_t c) {
  std::string text;
  boost::locale::utf::utf_traits<char>::encode(c, std::back_inserter(text));
  return text;
}

std::string to_text(text_grid const& grid) {
  std::string text;
  for (int r = 0; r < grid.height(); ++r) {
    for (int c = 0; c < grid.width(); ++c)
      if (grid.at(r, c).glyph != 0) text += to_utf8(grid.at(r, c).glyph);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

style_colour colour_of(style look) noexcept {
  enum : short { standard = -1, black, red, green, yellow, blue, magenta, cyan, white };
  static constexpr style_colour colours[styles] = {
      {standard, standard, false},  // plain
      {standard, standard, true},   // title
      {standard, standard, true},   // strong
      {245, standard, false},       // dim
      {109, cyan, false},           // heading
      {222, yellow, true},          // chosen
      {222, yellow, false},         // key
      {114, green, false},          // good
      {221, yellow, true},          // warning
      {203, red, true},             // bad
      {74, blue, false},            // bar
      {238, standard, false},       // track
      {73, cyan, false},            // spark
      {54, blue, false},            // heat0
      {91, blue, false},            // heat1
      {127, magenta, false},        // heat2
      {162, magenta, false},        // heat3
      {203, red, false},            // heat4
      {209, red, false},            // heat5
      {215, yellow, false},         // heat6
      {229, white, false},          // heat7
  };
  return colours[static_cast<std::size_t>(look)];
}

std::string to_ansi(text_grid const& grid) {
  std::string text;
  for (int r = 0; r < grid.height(); ++r) {
    std::string last;
    for (int c = 0; c < grid.width(); ++c) {
      auto const& cell = grid.at(r, c);
      if (cell.glyph == 0) continue;
      auto const [colour, basic, bold] = colour_of(cell.look);
      auto const wanted = fmt::format("\x1b[0{}{}{}m", bold ? ";1" : "", cell.selected ? ";48;5;237" : "",
                                      colour >= 0 ? fmt::format(";38;5;{}", colour) : "");
      if (wanted != last) text += last = wanted;
      text += to_utf8(cell.glyph);
    }
    text += "\x1b[0m\n";
  }
  return text;
}

}  // namespace rondo::tools
