// Filling the drawing for one frame (kernels/pixels/shapes.hpp) with boxes and lines of text.
#pragma once

#include <cstdint>
#include <type_traits>

#include "actors/video/movement/tracker.hpp"
#include "actors/video/pixels/colours.hpp"

namespace rondo::video {

using pixels::draw_list;
using pixels::rounded_box;
using pixels::text_line;

RONDO_HD inline void clear(draw_list& list) { list.boxes = list.texts = list.overflow = 0; }

RONDO_HD inline void add(draw_list& list, rounded_box const& b) {
  if (list.boxes < draw_list::box_capacity)
    list.box[list.boxes++] = b;
  else
    ++list.overflow;
}

RONDO_HD inline void add(draw_list& list, text_line const& t) {
  if (list.texts < draw_list::text_capacity)
    list.text[list.texts++] = t;
  else
    ++list.overflow;
}

/// Appends characters up to the first 0 or the line's capacity.
RONDO_HD inline void append(text_line& line, char const* text) {
  while (*text != 0 && line.length < text_line::capacity) line.text[line.length++] = *text++;
}

/// Appends a number that is not negative.
RONDO_HD inline void append(text_line& line, std::int64_t number) {
  char digits[20];
  std::int32_t n = 0;
  do {
    digits[n++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (n > 0 && line.length < text_line::capacity) line.text[line.length++] = digits[--n];
}

static_assert(std::is_trivially_copyable_v<draw_list>);

}  // namespace rondo::video
