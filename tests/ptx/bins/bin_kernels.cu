// The steps before and after a scan and a sort of bins, as kernels that the machine runs.
#include "tests/ptx/bins/bin_kernels.hpp"

namespace {

using namespace bins_test;

template <class Step>
__device__ void for_each(std::uint32_t count, Step const& step) {
  for (auto i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) step(i);
}

}  // namespace

#define BIN_STEPS(shape, pairs)                                                                    \
  extern "C" __global__ void count_##shape(pairs p, std::uint32_t count) {                         \
    for_each(count, [&](std::uint32_t i) { p.count(i); });                                         \
  }                                                                                                \
  extern "C" __global__ void write_##shape(pairs p, std::uint32_t count) {                         \
    for_each(count, [&](std::uint32_t i) { p.write(i); });                                         \
  }                                                                                                \
  extern "C" __global__ void find_##shape(pairs p, std::uint32_t count) {                          \
    for_each(count, [&](std::uint32_t i) { p.find(i); });                                          \
  }                                                                                                \
  extern "C" __global__ void touch_##shape(pairs p, std::uint32_t* touched, std::uint32_t count) { \
    for_each(count, [&](std::uint32_t i) { touched[i] = p.is_touched(i) ? 1 : 0; });               \
  }
BIN_STEPS(lines, line_pairs)
BIN_STEPS(boxes, box_pairs)
