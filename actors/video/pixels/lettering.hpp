// Makes letters of any size from their outlines, for kernels/pixels/letters.hpp, on every device.
//
// A coverage is exact across, to a 64th of a pixel, and the mean of 16 lines down. All is in whole numbers, so that
// devices make the same letters.
#pragma once

#include <cstddef>
#include <cstdint>

#include "actors/video/pixels/letter_outlines.hpp"
#include "kernels/pixels/letters.hpp"

namespace rondo::video {

/// The heights of capital letters in each face of a book, in pixels; 0: without letters. At most `limit`.
struct letter_sizes {
  static constexpr std::int32_t limit = 448;
  std::int32_t capital[pixels::letter_book::faces] = {};
};

/// Pixels from a letter to the next one.
RONDO_HD inline std::int32_t letter_advance(char c, std::int32_t capital) {
  auto const units = letter_outlines::letter_at(pixels::letter_index(c)).advance;
  return (units * capital + letter_outlines::capital_units / 2) / letter_outlines::capital_units;
}

namespace lettering {

static_assert(letter_outlines::first_character == pixels::first_letter &&
              letter_outlines::letter_count == pixels::letter_count);

/// A place in 64ths of a pixel: from the pen, and down from the top of capital letters.
struct place {
  std::int32_t x, y;
};

/// Of a point in 256ths of the font's units.
RONDO_HD inline place place_of(std::int32_t x256, std::int32_t y256, std::int32_t capital) {
  constexpr std::int32_t units = letter_outlines::capital_units;
  // Rounded down, also below 0: all letters are within 4 capital letters of their pen.
  auto const scaled = [capital](std::int32_t v) {
    return (v * capital + 4 * 256 * units * capital) / (4 * units) - 4 * 64 * capital;
  };
  return {scaled(x256), 64 * capital - scaled(y256)};
}
RONDO_HD inline place place_of(letter_outlines::point p, std::int32_t capital) {
  return place_of(256 * p.x, 256 * p.y, capital);
}

/// Calls line(from, to) for each straight piece of a letter's contours, of lines and curves that touch the rows from
/// `top` down to `below`, in 64ths of a pixel.
template <class Line>
RONDO_HD void each_line(std::int32_t index, std::int32_t capital, std::int32_t top, std::int32_t below,
                        Line const& line) {
  // A curve has 8 pieces, or 16: within an eighth of a pixel at the largest size.
  std::int32_t const step = capital <= 48 ? 2 : 1;
  auto const end = letter_outlines::letter_at(index + 1).first;
  letter_outlines::point last{}, control{};
  place from{}, pull{};
  bool is_curve = false;
  for (std::int32_t i = letter_outlines::letter_at(index).first; i < end; ++i) {
    auto const p = letter_outlines::point_at(i);
    auto const to = place_of(p, capital);
    if (p.is == letter_outlines::c) {
      control = p;
      pull = to;
      is_curve = true;
      continue;
    }
    std::int32_t const third = is_curve ? pull.y : to.y;
    bool const touches = pixels::least(pixels::least(from.y, to.y), third) < below &&
                         pixels::most(pixels::most(from.y, to.y), third) > top;
    if (p.is == letter_outlines::t && touches) {
      for (std::int32_t k = step; is_curve && k < 16; k += step) {
        std::int32_t const a = (16 - k) * (16 - k), b = 2 * k * (16 - k), c = k * k;
        auto const middle =
            place_of(a * last.x + b * control.x + c * p.x, a * last.y + b * control.y + c * p.y, capital);
        line(from, middle);
        from = middle;
      }
      line(from, to);
    }
    is_curve = false;
    last = p;
    from = to;
  }
}

/// The box and the advance of a letter.
RONDO_HD inline pixels::letter box_of(std::int32_t index, std::int32_t capital) {
  auto const character = static_cast<char>(pixels::first_letter + index);
  pixels::letter g{0, 0, 0, 0, 0, static_cast<std::int16_t>(letter_advance(character, capital))};
  auto const begin = letter_outlines::letter_at(index).first,
             end = letter_outlines::letter_at(index + 1).first;
  if (begin == end || capital == 0) return g;
  place low{INT32_MAX, INT32_MAX}, high{INT32_MIN, INT32_MIN};
  for (std::int32_t i = begin; i < end; ++i) {
    auto const p = letter_outlines::point_at(i);
    auto const at = place_of(p, capital);
    low = {pixels::least(low.x, at.x), pixels::least(low.y, at.y)};
    high = {pixels::most(high.x, at.x), pixels::most(high.y, at.y)};
  }
  auto const narrow = [](std::int32_t v) { return static_cast<std::int16_t>(v); };
  g.left = narrow((low.x >> 6) - 1);  // with the margins
  g.top = narrow((low.y >> 6) - 1);
  g.width = narrow((high.x >> 6) + 2 - g.left);
  g.height = narrow((high.y >> 6) + 2 - g.top);
  return g;
}

/// Adds the coverages of what lies to the right of a line to a row of a letter, as differences from column to column.
/// The row begins at `left` and `top`, in 64ths of a pixel.
RONDO_HD inline void add_line(std::int16_t* row, std::int32_t left, std::int32_t top, place from, place to) {
  auto const& upper = from.y < to.y ? from : to;
  auto const& lower = from.y < to.y ? to : from;
  // TrueType's contours go upwards left of what they fill.
  std::int32_t const sign = from.y > to.y ? 1 : -1;
  for (std::int32_t y = top + 2; y < top + 64; y += 4) {
    if (y < upper.y || y >= lower.y) continue;
    std::int32_t const x = upper.x + (y - upper.y) * (lower.x - upper.x) / (lower.y - upper.y) - left;
    std::int32_t const column = x >> 6, rest = x & 63;
    row[column] = static_cast<std::int16_t>(row[column] + sign * (64 - rest));
    row[column + 1] = static_cast<std::int16_t>(row[column + 1] + sign * rest);
  }
}

/// One row of a letter.
RONDO_HD inline void cover_row(std::int16_t* row, pixels::letter const& g, std::int32_t index,
                               std::int32_t capital, std::int32_t number) {
  std::int32_t const left = 64 * g.left, top = 64 * (g.top + number);
  for (std::int32_t x = 0; x < g.width; ++x) row[x] = 0;
  each_line(index, capital, top, top + 64, [=](place from, place to) { add_line(row, left, top, from, to); });
  std::int32_t sum = 0;  // 1024 for a pixel that is covered
  for (std::int32_t x = 0; x < g.width; ++x) {
    sum += row[x];
    row[x] = static_cast<std::int16_t>(pixels::within((sum + 2) >> 2, 0, 256));
  }
}

/// Lays out letters of these sizes one after the other. Returns the number of coverages.
RONDO_HD inline std::int32_t lay_out(letter_sizes const& sizes, pixels::letter_book* book) {
  std::int32_t count = 0;
  for (std::int32_t f = 0; f < pixels::letter_book::faces; ++f) {
    auto const capital = sizes.capital[f];
    std::int32_t top = 0, below = 0;
    for (std::int32_t i = 0; i < pixels::letter_count; ++i) {
      auto g = box_of(i, capital);
      g.at = count;
      count += g.width * g.height;
      top = pixels::least(top, g.top);
      below = pixels::most(below, g.top + g.height);
      if (book != nullptr) book->face[f].of[i] = g;
    }
    if (book == nullptr) continue;
    book->face[f].capital = capital;
    book->face[f].top = top;
    book->face[f].below = below;
  }
  return count;
}

}  // namespace lettering

/// What a book with letters of these sizes takes, in bytes.
RONDO_HD inline std::uint64_t book_bytes(letter_sizes const& sizes) {
  return sizeof(pixels::letter_book) +
         sizeof(std::int16_t) * static_cast<std::uint64_t>(lettering::lay_out(sizes, nullptr));
}

/// Makes the letters of a book, if they are not there yet: its memory was zero before. Called by all lanes of a team.
template <class Team>
RONDO_HD void provide_letters(Team const& team, pixels::letter_book& book, letter_sizes const& sizes) {
  if (book.is_made != 0) return;
  bool const leads = team.lane() == 0;
  if (leads) lettering::lay_out(sizes, &book);
  team.sync();
  auto* const coverages = reinterpret_cast<std::int16_t*>(&book + 1);
  std::int32_t rows = 0;  // before this letter: lanes take rows of all letters in turn
  for (auto const& face : book.face)
    for (std::int32_t i = 0; i < pixels::letter_count; ++i) {
      auto const& g = face.of[i];
      for (auto r = pixels::first_from(rows, team.lane(), team.lane_count()) - rows; r < g.height;
           r += team.lane_count())
        lettering::cover_row(coverages + g.at + r * g.width, g, i, face.capital, r);
      rows += g.height;
    }
  team.sync();
  if (leads) book.is_made = 1;
  team.sync();
}

}  // namespace rondo::video
