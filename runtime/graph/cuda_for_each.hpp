// The CUDA kernel behind stream::for_each; only for files that nvcc compiles.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "runtime/graph/block_size.hpp"

namespace rondo {

template <class Element>
__global__ void for_each_kernel(std::uint32_t count, Element element) {
  for (auto i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) element(i);
}

template <class Element>
void launch_for_each(void* stream, std::uint32_t count, Element element) {
  if (count == 0) return;
  auto const threads = block_size_for(count);
  for_each_kernel<<<(count - 1) / threads + 1, threads, 0, static_cast<cudaStream_t>(stream)>>>(count,
                                                                                                element);
  if (auto const e = cudaGetLastError(); e != cudaSuccess)
    throw std::runtime_error(std::string("CUDA: capturing for_each: ") + cudaGetErrorString(e));
}

}  // namespace rondo
