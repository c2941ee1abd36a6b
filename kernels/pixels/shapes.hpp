// The drawing for one picture, as flat data: rounded boxes and lines of text, in order.
#pragma once

#include "kernels/pixels/portable.hpp"

namespace rondo {
namespace pixels {

/// A colour as it is stored in a picture.
struct sample_colour {
  u8 y, u, v;
};

/// [x0, x1) by [y0, y1) in sixteenths of a pixel.
struct box16 {
  i32 x0, y0, x1, y1;
};

/// A box with rounded corners. Alphas range from 0 (transparent) to 256 (opaque). The stroke is centred on the
/// edge.
struct rounded_box {
  box16 box;
  i32 radius16, stroke16;  ///< sixteenths of a pixel
  sample_colour fill, stroke;
  i16 fill_alpha, stroke_alpha;
};

/// A line of ASCII text, in pixels from where it begins, and from the top of its capital letters.
struct text_line {
  enum : i32 { capacity = 48 };
  i32 x, y;
  i32 face;  ///< of the letter_book (kernels/pixels/letters.hpp) with which it is drawn
  sample_colour ink;
  i16 alpha;
  i32 length;
  char text[capacity];
};

/// One frame's drawing: all boxes first, then all text. `overflow` counts shapes dropped for lack of space.
struct draw_list {
  enum : i32 { box_capacity = 256, text_capacity = 96 };
  i32 boxes, texts, overflow;
  rounded_box box[box_capacity];
  text_line text[text_capacity];
};

}  // namespace pixels
}  // namespace rondo
