// Where the planes of a picture are.
#pragma once

#include "kernels/pixels/portable.hpp"

namespace rondo {
namespace pixels {

/// The planes that are drawn on. Rows are padded to 64 samples, so that tiles lie within.
struct drawn_planes {
  RONDO_BUFFER u8* y;
  RONDO_BUFFER u8* u;
  RONDO_BUFFER u8* v;
  i32 stride, colour_stride;
  i32 width, height;                     // in pixels; even
  RONDO_BUFFER u8* opacities = nullptr;  // as many as pixels; null: the picture has none
};
/// Which tiles of a layer have samples. What has none shows nothing, and its memory is never read: so an empty layer
/// costs nothing but its marks, whatever its size.
struct tile_marks {
  RONDO_BUFFER u8* of;  // of each tile, row by row: 0: it has no samples
  i32 columns;          // tiles side by side
  i32 left, top;        // the pixel of the layer that is (0, 0) here; even
};
/// The same of a layer, whose samples are numbers of sixteen bits (overlay/half.hpp) from 0 to 1.
struct layer_planes {
  RONDO_BUFFER u16* red;
  RONDO_BUFFER u16* green;
  RONDO_BUFFER u16* blue;
  RONDO_BUFFER u16* opacities;
  i32 stride;         // in samples
  i32 width, height;  // in pixels; even
  tile_marks marks;
};

enum { tile_side = 64 };  // pixels of a tile in each direction

/// Whether the tile with pixel (x, y) has samples.
RONDO_PIXELS bool is_marked(tile_marks m, i32 x, i32 y) {
  return m.of[(y + m.top) / tile_side * m.columns + (x + m.left) / tile_side] != 0;
}

/// Blocks [first, last) of some that lie side by side.
struct block_range {
  i32 first, last;
};

/// Where a plane is in its buffer: its first byte, and the bytes from row to row.
struct plane_place {
  u32 at;
  i32 stride;
};

/// Row y of a plane.
RONDO_PIXELS RONDO_BUFFER u8* row_of(RONDO_BUFFER u8* buffer, plane_place p, i32 y) {
  return buffer + p.at + y * p.stride;
}

}  // namespace pixels
}  // namespace rondo
