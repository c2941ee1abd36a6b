// Errors of the CUDA runtime, as text and as exceptions; nvcc compiles it, too.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace rondo {

inline std::string text_of(cudaError_t e) {
  return std::string(cudaGetErrorString(e)) + " (" + cudaGetErrorName(e) + ")";
}

/// Throws std::runtime_error with what failed and why, unless `e` is cudaSuccess.
inline void check(cudaError_t e, char const* what) {
  if (e != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + what + ": " + text_of(e));
}

}  // namespace rondo
