// Errors of the CUDA runtime, as text and as exceptions.
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace rondo {

inline std::string text_of(cudaError_t e) {
  return fmt::format("{} ({})", cudaGetErrorString(e), cudaGetErrorName(e));
}

/// Throws std::runtime_error with what failed and why, unless `e` is cudaSuccess.
inline void check(cudaError_t e, char const* what) {
  if (e != cudaSuccess) throw std::runtime_error(fmt::format("CUDA: {}: {}", what, text_of(e)));
}

}  // namespace rondo
