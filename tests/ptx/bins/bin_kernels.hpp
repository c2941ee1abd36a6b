// Pairs of tiles and shapes, as a kernel gets them.
#pragma once

#include "actors/video/overlay/bin_pairs.hpp"
#include "kernels/pixels/overlay/boxes.hpp"
#include "kernels/pixels/overlay/strokes.hpp"

namespace bins_test {

using line_pairs = rondo::video::bin_pairs<rondo::pixels::segment>;
using box_pairs = rondo::video::bin_pairs<rondo::pixels::box_shape>;

}  // namespace bins_test
