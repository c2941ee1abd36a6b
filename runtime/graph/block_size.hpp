// The number of threads per block of a kernel that handles each element of an array once. A rule of thumb to start
// from, which profiling may correct: it was not measured here.
#pragma once

#include <cstdint>

namespace rondo {

/// Small arrays take small blocks, so that their few threads spread over all multiprocessors: 64 up to 4 Ki elements,
/// 128 up to 64 Ki. Larger ones take 256, which fills a multiprocessor of any generation if the kernel needs few
/// registers. From 4 Mi elements on, 512: fewer blocks to start, and still two or more on a multiprocessor.
constexpr std::uint32_t block_size_for(std::uint64_t elements) noexcept {
  if (elements <= 4u << 10) return 64;
  if (elements <= 64u << 10) return 128;
  return elements < 4u << 20 ? 256 : 512;
}

}  // namespace rondo
