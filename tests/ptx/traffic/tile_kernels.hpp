// Tiles of shapes, as a kernel gets them.
#pragma once

#include "actors/video/overlay/tile_layer.hpp"
#include "actors/video/pixels/image.hpp"

namespace tile_traffic {

using line_tiles = rondo::video::tile_layer<rondo::pixels::segment>;
using box_tiles = rondo::video::tile_layer<rondo::pixels::box_shape>;

}  // namespace tile_traffic
