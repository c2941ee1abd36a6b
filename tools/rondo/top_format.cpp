#include "tools/rondo/top_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rondo::tools {

glyphs const& unicode_glyphs() noexcept {
  static constexpr char32_t bars[] = U"▏▎▍▌▋▊▉█", sparks[] = U"▁▂▃▄▅▆▇█", shades[] = U" ░░▒▒▓▓██";
  static constexpr glyphs g{bars, sparks, shades, U'─', U'●', U'○', U'◐',
                            U'✖', U'…',   U'↓',   U'↑', U'·', U'–', "µ"};
  return g;
}

glyphs const& ascii_glyphs() noexcept {
  static constexpr char32_t bars[] = U"    ####", sparks[] = U"_.,-~=*#", shades[] = U" .:-=+*#@";
  static constexpr glyphs g{bars, sparks, shades, U'-', U'*', U'o', U'%',
                            U'x', U'~',   U'v',   U'^', U'.', U'-', "u"};
  return g;
}

std::string count_text(double n) {
  static constexpr char const* units[] = {"", "k", "M", "G", "T", "P"};
  if (n < 0) n = 0;
  if (n < 999.5) return n != std::floor(n) && n < 99.95 ? fmt::format("{:.1f}", n) : fmt::format("{:.0f}", n);
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
  return fmt::format("{}d{:02}h", s / 86400, s / 3600 % 24);
}

std::string bytes_text(double bytes) {
  static constexpr char const* units[] = {"B", "K", "M", "G", "T", "P"};
  std::size_t unit = 0;
  while (bytes >= 1023.5 && unit + 1 < std::size(units)) bytes /= 1024, ++unit;
  return fmt::format("{:.{}f}{}", bytes, unit != 0 && bytes < 9.95 ? 1 : 0, units[unit]);
}

void put_bar(text_grid& to, int row, int column, int width, double share, style look, glyphs const& g) {
  auto const clear = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  int eighths = static_cast<int>(std::lround(clear * width * 8));
  if (clear > 0 && eighths == 0) eighths = 1;  // something is not nothing
  for (int c = 0; c < width; ++c, eighths -= 8) {
    auto const glyph = eighths >= 8 ? g.bars[7] : eighths > 0 ? g.bars[eighths - 1] : g.track;
    bool const filled = eighths > 0 && glyph != U' ';
    to.put_glyph(row, column + c, filled ? glyph : g.track, filled ? look : style::track);
  }
}

void put_spark(text_grid& to, int row, int column, int width, std::deque<float> const& values, style look,
               glyphs const& g) {
  int const shown = std::min(width, static_cast<int>(values.size()));
  auto const first = values.end() - shown;
  float const most = shown == 0 ? 0 : *std::max_element(first, values.end());
  int c = column + width - shown;
  for (auto at = first; at != values.end(); ++at, ++c) {
    if (*at <= 0 || most <= 0) {
      to.put_glyph(row, c, g.sparks[0], style::track);
      continue;
    }
    auto const level = std::clamp(static_cast<int>(std::lround(*at / most * 7)), 0, 7);
    to.put_glyph(row, c, g.sparks[level], look);
  }
}

void put_section(text_grid& to, int row, int column, int width, std::string_view title, glyphs const& g) {
  to.fill(row, column, width, g.line, style::track);
  to.put(row, column + 1, fmt::format(" {} ", title), style::heading, width - 2);
}

}  // namespace rondo::tools
