// The drawing for one frame, as flat data: rounded boxes and lines of text, in order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "actors/video/movement/tracker.hpp"
#include "actors/video/pixels/colours.hpp"

namespace rondo::video {

/// A box with rounded corners. Alphas range from 0 (transparent) to 256 (opaque). The stroke is centred on the
/// edge.
struct rounded_box {
  box16 box;
  std::int32_t radius16, stroke16;  ///< sixteenths of a pixel
  sample_colour fill, stroke;
  std::int16_t fill_alpha, stroke_alpha;
};

/// A line of ASCII text. (x16, y16) is the top left corner; a font dot is `dot16` sixteenths of a pixel wide.
struct text_line {
  static constexpr std::int32_t capacity = 48;
  std::int32_t x16, y16, dot16;
  sample_colour ink;
  std::int16_t alpha;
  std::int32_t length;
  char text[capacity];
};

/// One frame's drawing: all boxes first, then all text. `overflow` counts shapes dropped for lack of space.
struct draw_list {
  static constexpr std::int32_t box_capacity = 256, text_capacity = 96;
  std::int32_t boxes, texts, overflow;
  rounded_box box[box_capacity];
  text_line text[text_capacity];
};

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
