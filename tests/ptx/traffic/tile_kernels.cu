// A tile of lines, and one of boxes: each is drawn by one team, as in a ring kernel.
#include "tests/ptx/traffic/tile_kernels.hpp"

using namespace tile_traffic;

extern "C" __global__ void draw_line_tile(rondo::pixels::drawn_planes to, line_tiles shapes,
                                          rondo::pixels::stroke_styles styles, std::uint32_t n,
                                          rondo::team_shared* shared) {
  shapes.draw(rondo::team{0, threadIdx.x, blockDim.x, *shared}, to, styles, n);
}
extern "C" __global__ void draw_box_tile(rondo::pixels::drawn_planes to, box_tiles shapes, std::uint32_t n,
                                         rondo::team_shared* shared) {
  shapes.draw(rondo::team{0, threadIdx.x, blockDim.x, *shared}, to, rondo::pixels::no_more{}, n);
}
