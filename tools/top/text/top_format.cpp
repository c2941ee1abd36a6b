#include "tools/top/text/top_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rondo::tools {

glyphs const& unicode_glyphs() noexcept {
  static constexpr char32_t sparks[] = U"▁▂▃▄▅▆▇█", shades[] = U" ░░▒▒▓▓██";
  static constexpr glyphs g{.full = U'━',
                            .left_half = U'╸',
                            .sparks = sparks,
                            .shades = shades,
                            .line = U'─',
                            .dot = U'●',
                            .circle = U'○',
                            .half = U'◐',
                            .cross = U'✖',
                            .ellipsis = U'…',
                            .arrow_down = U'↓',
                            .arrow_up = U'↑',
                            .track = U'─',
                            .dash = U'–',
                            .mark = U'▌',
                            .micro = "µ"};
  return g;
}

glyphs const& ascii_glyphs() noexcept {
  static constexpr char32_t sparks[] = U"_.,-~=*#", shades[] = U" .:-=+*#@";
  static constexpr glyphs g{.full = U'=',
                            .left_half = U'-',
                            .sparks = sparks,
                            .shades = shades,
                            .line = U'-',
                            .dot = U'*',
                            .circle = U'o',
                            .half = U'%',
                            .cross = U'x',
                            .ellipsis = U'~',
                            .arrow_down = U'v',
                            .arrow_up = U'^',
                            .track = U'.',
                            .dash = U'-',
                            .mark = U'>',
                            .micro = "u"};
  return g;
}

std::string count_text(double n) {
  static constexpr char const* units[] = {"", "k", "M", "G", "T", "P"};
  if (n < 0) n = 0;
  if (n < 9999.5)
    return n != std::floor(n) && n < 99.95 ? fmt::format("{:.1f}", n) : fmt::format("{:.0f}", n);
  std::size_t unit = 0;
  while (n >= 999.5 && unit + 1 < std::size(units)) n /= 1000, ++unit;
  return fmt::format("{:.{}f}{}", n, n < 9.995 ? 2 : n < 99.95 ? 1 : 0, units[unit]);
}

std::string time_text(double ns, glyphs const& g) {
  if (ns <= 0) return to_utf8(g.dash);
  auto const with = [](double n, std::string_view unit) {
    return fmt::format("{:.{}f}{}", n, n < 9.95 ? 1 : 0, unit);
  };
  if (ns < 999.5) return fmt::format("{:.0f}ns", ns);
  if (ns < 999.5e3) return with(ns / 1e3, fmt::format("{}s", g.micro));
  if (ns < 999.5e6) return with(ns / 1e6, "ms");
  if (ns < 100e9) return with(ns / 1e9, "s");
  auto const s = static_cast<std::uint64_t>(ns / 1e9);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
  if (s < 100 * 86400) return fmt::format("{}d{:02}h", s / 86400, s / 3600 % 24);
  return fmt::format("{}d", s / 86400);
}

std::string bytes_text(double bytes) {
  static constexpr char const* units[] = {"B", "K", "M", "G", "T", "P"};
  std::size_t unit = 0;
  while (bytes >= 1023.5 && unit + 1 < std::size(units)) bytes /= 1024, ++unit;
  return fmt::format("{:.{}f}{}", bytes, unit != 0 && bytes < 9.95 ? 1 : 0, units[unit]);
}

void put_bar(text_grid& to, int row, int column, int width, double share, style look, glyphs const& g) {
  auto const clear = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  int halves = static_cast<int>(std::lround(clear * width * 2));
  if (clear > 0 && halves == 0) halves = 1;  // more than zero must be visible
  for (int c = 0; c < width; ++c, halves -= 2)
    to.put_glyph(row, column + c,
                 halves >= 2   ? g.full
                 : halves == 1 ? g.left_half
                               : g.track,
                 halves > 0 ? look : style::track);
}

namespace {

/// The newest values that fit into `columns` cells, and the largest of them.
struct newest {
  std::deque<float>::const_iterator first;
  int shown;
  float most;

  newest(std::deque<float> const& values, int columns)
      : first(values.end() - std::min<std::ptrdiff_t>(std::max(columns, 0), std::ssize(values))),
        shown(static_cast<int>(values.end() - first)),
        most(shown == 0 ? 0 : *std::max_element(first, values.end())) {}
};

}  // namespace

void put_spark(text_grid& to, int row, int column, int width, std::deque<float> const& values, style look,
               glyphs const& g) {
  newest const n(values, width);
  for (int i = 0; i < n.shown; ++i) {
    auto const value = n.first[i];
    // Not up to the tallest: curves in adjacent rows would touch.
    auto const level = n.most <= 0 ? 0 : std::clamp(static_cast<int>(std::lround(value / n.most * 6)), 0, 6);
    to.put_glyph(row, column + width - n.shown + i, g.sparks[level], value <= 0 ? style::track : look);
  }
}

void put_curve(text_grid& to, int row, int column, int width, int height, std::deque<float> const& values,
               style look, glyphs const& g) {
  static constexpr int axis = 8;
  newest const n(values, width - axis - 1);
  to.put_right(row, column + axis - 1, axis - 1, count_text(n.most), style::dim);
  to.put_right(row + height - 1, column + axis - 1, axis - 1, "0", style::dim);
  for (int i = 0; i < n.shown; ++i) {
    int eighths =
        n.most <= 0 ? 0 : static_cast<int>(std::lround(n.first[i] / n.most * static_cast<float>(height * 8)));
    if (n.first[i] > 0 && eighths == 0) eighths = 1;
    int const at = column + width - 1 - n.shown + i;
    for (int r = row + height - 1; r >= row; --r, eighths -= 8)
      if (eighths > 0) to.put_glyph(r, at, g.sparks[std::min(eighths, 8) - 1], look);
  }
}

void put_section(text_grid& to, int row, int column, int width, std::string_view title, glyphs const& g) {
  to.fill(row, column, width, g.line, style::track);
  to.put(row, column + 1, fmt::format(" {} ", title), style::heading, width - 2);
}

}  // namespace rondo::tools
