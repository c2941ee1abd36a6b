// The font of kernels/pixels/font.hpp, for stages.
#pragma once

#include "kernels/pixels/font.hpp"

namespace rondo::video {

using pixels::glyph_advance;
using pixels::glyph_columns;
using pixels::glyph_coverage;
using pixels::glyph_dot;
using pixels::glyph_row;
using pixels::glyph_rows;

}  // namespace rondo::video
