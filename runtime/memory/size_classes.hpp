// The sizes of a pool's blocks: four per power of two, so that at most a fifth of a block is unused.
//
// Up to 256 bytes, the classes are the multiples of 64; above, each power of two and its 5/4, 6/4, and 7/4. All
// are multiples of 64; from 16 KiB on, they are multiples of 4 KiB.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace rondo::size_classes {

inline constexpr std::uint64_t largest_bytes = 1ull << 40;         // of a block
inline constexpr std::uint64_t page_bytes = 4096;                  // alignment of large blocks
inline constexpr std::uint64_t paged_from_bytes = 4 * page_bytes;  // from here on, blocks are large

/// The class whose blocks hold `bytes` with the least waste. Precondition: `bytes <= largest_bytes`.
constexpr std::uint32_t of(std::uint64_t bytes) noexcept {
  if (bytes <= 64) return 0;
  if (bytes <= 256) return static_cast<std::uint32_t>((bytes - 1) / 64);
  auto const last = bytes - 1;  // the two bits below its highest one select the quarter
  auto const k = static_cast<std::uint32_t>(std::bit_width(last)) - 1;  // at least 8
  return 4 + (k - 8) * 4 + static_cast<std::uint32_t>((last >> (k - 2)) & 3);
}

/// The size of a block of the class.
constexpr std::uint64_t bytes_of(std::uint32_t size_class) noexcept {
  if (size_class < 4) return 64ull * (size_class + 1);
  auto const k = 8 + (size_class - 4) / 4;
  return (5ull + (size_class - 4) % 4) << (k - 2);
}

/// Blocks of the class start at multiples of this.
constexpr std::size_t alignment_of(std::uint32_t size_class) noexcept {
  return bytes_of(size_class) >= paged_from_bytes ? page_bytes : 64;
}

inline constexpr std::uint32_t count = of(largest_bytes) + 1;  // of the classes

static_assert(bytes_of(of(1)) == 64 && bytes_of(of(256)) == 256 && bytes_of(of(257)) == 320);
static_assert(bytes_of(of(1 << 20)) == 1 << 20 && bytes_of(count - 1) == largest_bytes);

}  // namespace rondo::size_classes
