// A module of stages whose functions are large, for the resources of its ring kernel.
#define RONDO_CUDA_REGISTERS 192  // with fewer, following a frame's regions would spill
#include "actors/video/stages/movement.hpp"
#include "kernels/streams/stage.hpp"
#include "runtime/device/cuda/cuda_module.hpp"

namespace cuda_compile_test {
RONDO_STAGES(movement_stages, rondo::video::find_movement, rondo::video::draw_movement)
}

RONDO_CUDA_MODULE(cuda_compile_test::movement_stages)
