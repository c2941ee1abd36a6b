// Annotation macros and small helpers that differ between a CPU and a GPU, or between systems.
#pragma once

#include <cstddef>
#include <cstdint>

/// Marks functions that run on the host and on a GPU. It is empty without nvcc.
#if defined(__CUDACC__)
#define RONDO_HD __host__ __device__
#else
#define RONDO_HD
#endif

/// Marks a function template with RONDO_HD that calls what it is given, which may be for the host alone.
#if defined(__CUDACC__)
#define RONDO_EITHER_SIDE _Pragma("nv_exec_check_disable")
#else
#define RONDO_EITHER_SIDE
#endif

/// Marks the few functions on every message's path, where a call would cost as much as the work: always inlined on a
/// CPU. nvcc makes its own choice.
#if defined(__CUDACC__)
#define RONDO_HOT
#else
#define RONDO_HOT [[gnu::always_inline]]
#endif

/// Marks functions that nvcc must not inline: those on rare paths, and those with many callers. Otherwise nvcc inlines
/// whatever it can, and takes ten times as long to compile a ring kernel.
#if defined(__CUDACC__)
#define RONDO_CALL __noinline__
#else
#define RONDO_CALL
#endif

/// The same, for a CPU's compiler too.
#if defined(__CUDACC__)
#define RONDO_COLD __noinline__
#else
#define RONDO_COLD [[gnu::cold]]
#endif

/// Marks functions on the path of messages of devices with a grid. There, nvcc makes its own choice. A CPU's compiler,
/// which compiles them for the emulated device, must not inline them beside what its own device needs.
#if defined(__CUDACC__)
#define RONDO_GRID
#else
#define RONDO_GRID [[gnu::noinline]]
#endif

/// Unrolls the following loop on a GPU, where an array with an index that is not constant lies in memory.
#if defined(__CUDACC__)
#define RONDO_UNROLL _Pragma("unroll")
#else
#define RONDO_UNROLL
#endif

/// 1 where what Linux alone has is used; otherwise each place that asks has another way. RONDO_PORTABLE_OS makes it 0
/// on Linux, too, so that this other way is compiled and run (docs/systems.md).
#if defined(__linux__) && !defined(RONDO_PORTABLE_OS)
#define RONDO_LINUX 1
#else
#define RONDO_LINUX 0
#endif

namespace rondo {

/// Prefetches the cache line at `address`; a hint only.
RONDO_HD inline void prefetch([[maybe_unused]] void const* address) noexcept {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.L1 [%0];" ::"l"(address));
#else
  __builtin_prefetch(address, 0, 3);
#endif
}

/// Flushes write-combined stores before any later store: for memory that the processor does not cache.
RONDO_HD inline void flush_writes() noexcept {
#if defined(__CUDA_ARCH__)
#elif defined(__x86_64__)
  __builtin_ia32_sfence();
#elif defined(__aarch64__)
  asm volatile("dmb oshst" ::: "memory");
#endif
}

/// Copies `bytes` to `destination`, which is aligned to 16 bytes. As wide as `from` is aligned: nvcc's memcpy of a size
/// that it does not know would go byte by byte.
RONDO_HOT RONDO_HD inline void copy_words(void* destination, void const* from, std::uint32_t bytes) noexcept {
#if defined(__CUDA_ARCH__)
  auto* const to = static_cast<std::byte*>(destination);
  auto const* const source = static_cast<std::byte const*>(from);
  auto const address = reinterpret_cast<std::uintptr_t>(source);
  std::uint32_t i = 0;
  if ((address & 15) == 0)
    for (; i + 16 <= bytes; i += 16)
      *reinterpret_cast<uint4*>(to + i) = *reinterpret_cast<uint4 const*>(source + i);
  if ((address & 3) == 0)
    for (; i + 4 <= bytes; i += 4)
      *reinterpret_cast<std::uint32_t*>(to + i) = *reinterpret_cast<std::uint32_t const*>(source + i);
  for (; i < bytes; ++i) to[i] = source[i];
#else
  __builtin_memcpy(destination, from, bytes);
#endif
}

/// `value` rounded up to a multiple of `alignment`, a power of two.
RONDO_HD constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) noexcept {
  return (value + alignment - 1) & ~(alignment - 1);
}

/// The smallest power of two that is at least `value`; 1 for 0.
RONDO_HD constexpr std::uint32_t ceil_power_of_two(std::uint32_t value) noexcept {
  std::uint32_t power = 1;
  while (power < value) power <<= 1;
  return power;
}

/// The index of the highest set bit. Precondition: `bits != 0`.
RONDO_HD inline int highest_bit(std::uint64_t bits) noexcept {
#if defined(__CUDA_ARCH__)
  return 63 - __clzll(static_cast<long long>(bits));
#else
  return 63 - __builtin_clzll(bits);
#endif
}

/// How many bits from the lowest one on are set.
RONDO_HD inline std::uint32_t trailing_ones(std::uint32_t bits) noexcept {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__clz(static_cast<int>(__brev(~bits))));
#else
  return ~bits == 0 ? 32 : static_cast<std::uint32_t>(__builtin_ctz(~bits));
#endif
}

/// The index of the lowest set bit. Precondition: `bits != 0`.
RONDO_HD inline int lowest_bit(std::uint64_t bits) noexcept {
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(bits)) - 1;
#else
  return __builtin_ctzll(bits);
#endif
}

}  // namespace rondo
