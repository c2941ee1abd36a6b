// Lines of text, from letters of one size: each is a picture of how much it covers of its pixels. Who makes them:
// actors/video/pixels/lettering.hpp.
#pragma once

#include "kernels/pixels/planes.hpp"
#include "kernels/pixels/shapes.hpp"

namespace rondo {
namespace pixels {

enum : i32 { first_letter = 32, letter_count = 95 };  // the printable ones of ASCII

/// A letter's box, in pixels from where it is written: the pen, and the top of capital letters. A margin of one pixel
/// around the letter covers nothing, so that blocks of 2x2 pixels that touch the letter are within the box.
struct letter {
  i32 at;  ///< index of its first coverage
  i16 left, top, width, height;
  i16 advance;  ///< to the next letter
};
/// All letters of one size.
struct letter_face {
  i32 capital;     ///< the height of capital letters, in pixels; 0: there are no letters
  i32 top, below;  ///< rows of all boxes, from the top of capital letters: [top, below)
  letter of[letter_count];
};
/// Letters of as many sizes as a drawing needs. Their coverages, i16 from 0 to 256, follow in memory.
struct letter_book {
  enum : i32 { faces = 2 };
  i32 is_made;
  letter_face face[faces];
};

/// The index of a character; what is not printable ASCII is a space.
RONDO_PIXELS i32 letter_index(char c) {
  i32 const index = static_cast<i32>(static_cast<u8>(c)) - first_letter;
  return index >= 0 && index < letter_count ? index : 0;
}

/// A colour into columns [begin, end) of a row, whose coverages begin with column `left`; compilers vectorise it.
RONDO_PIXELS void ink_span(RONDO_BUFFER u8* row, RONDO_BUFFER i16 const* covered, i32 left, i32 begin,
                           i32 end, u8 value, i32 alpha) {
  for (i32 x = begin; x < end; ++x) {
    u16 const a = static_cast<u16>(static_cast<u32>(covered[x - left]) * static_cast<u32>(alpha) >> 8);
    row[x] = static_cast<u8>(static_cast<u16>(row[x] * (256 - a) + value * a + 128) >> 8);
  }
}

/// The part of a letter at (x, y) in row `by` of blocks of 2x2 pixels.
RONDO_PIXELS void draw_letter_row(drawn_planes to, RONDO_BUFFER i16 const* covered, letter g, i32 x, i32 y,
                                  sample_colour colour, i32 alpha, i32 by, i32 first, i32 step) {
  i32 const left = x + g.left, top = y + g.top;
  if (2 * by < top || 2 * by + 2 > top + g.height) return;
  i32 const begin = most((left + 1) >> 1, 0), end = least((left + g.width) >> 1, (to.width + 1) / 2);
  covered += g.at + (2 * by - top) * g.width;
  for (i32 r = 0; r < 2 && 2 * by + r < to.height; ++r) {
    RONDO_BUFFER u8* const row = to.y + (2 * by + r) * to.stride;
    RONDO_BUFFER i16 const* const of = covered + r * g.width;
    if (step == 1)
      ink_span(row, of, left, 2 * begin, least(2 * end, to.width), colour.y, alpha);
    else
      for (i32 bx = first_from(begin, first, step); bx < end; bx += step)
        ink_span(row, of, left, 2 * bx, least(2 * bx + 2, to.width), colour.y, alpha);
  }
  RONDO_BUFFER u8* const u = to.u + by * to.colour_stride;
  RONDO_BUFFER u8* const v = to.v + by * to.colour_stride;
  for (i32 bx = first_from(begin, first, step); bx < end; bx += step) {
    RONDO_BUFFER i16 const* const c = covered + (2 * bx - left);
    i32 const sum = c[0] + c[1] + c[g.width] + c[g.width + 1];
    i32 const keep = 1024 * 256 - sum * alpha;  // 1024: four pixels
    u[bx] = static_cast<u8>((u[bx] * keep + colour.u * sum * alpha + 512 * 256) >> 18);
    v[bx] = static_cast<u8>((v[bx] * keep + colour.v * sum * alpha + 512 * 256) >> 18);
  }
}

/// The part of a line of text in row `by` of blocks.
RONDO_PIXELS void draw_text_row(drawn_planes to, RONDO_BUFFER text_line const* t,
                                RONDO_BUFFER letter_book const* book, i32 by, i32 first, i32 step) {
  RONDO_BUFFER letter_face const* const face = book->face + t->face;
  if (2 * by + 2 <= t->y + face->top || 2 * by >= t->y + face->below) return;
  RONDO_BUFFER i16 const* const covered = reinterpret_cast<RONDO_BUFFER i16 const*>(book + 1);
  i32 x = t->x;
  for (i32 k = 0; k < t->length; ++k) {
    letter const g = face->of[letter_index(t->text[k])];
    draw_letter_row(to, covered, g, x, t->y, t->ink, t->alpha, by, first, step);
    x += g.advance;
  }
}

}  // namespace pixels
}  // namespace rondo
