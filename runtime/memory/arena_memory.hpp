// Zeroed, page-aligned memory for an arena. Pages cost nothing until they are touched.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

#include "kernels/base/portable.hpp"

namespace rondo {

/// Asks for large pages for memory that fills up from its beginning: the system makes one with less work than 512 small
/// ones. Without effect where it has none. For less than a large page nothing is asked: it would only split the
/// mapping.
inline void prefer_large_pages([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t bytes) noexcept {
#if RONDO_LINUX
  constexpr std::uintptr_t page_bytes = 4096, large_page_bytes = 2 << 20;
  if (bytes < large_page_bytes) return;
  auto const first = (reinterpret_cast<std::uintptr_t>(begin) + page_bytes - 1) & ~(page_bytes - 1);
  auto const end = reinterpret_cast<std::uintptr_t>(begin) + bytes;
  static_cast<void>(madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE));
#endif
}

class arena_memory {
 public:
  /// Throws std::system_error if the system cannot map `bytes`.
  explicit arena_memory(std::size_t bytes) : bytes_(bytes) {
    void* const p =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
      throw std::system_error(
          errno, std::generic_category(),
          "mapping an arena of " + std::to_string(bytes) +
              " bytes (actors, mail_blocks, state_bytes; or buffers: buffer_bytes_cap, buffer_slots)");
    base_ = static_cast<std::byte*>(p);
  }
  ~arena_memory() { munmap(base_, bytes_); }
  arena_memory(arena_memory const&) = delete;
  arena_memory& operator=(arena_memory const&) = delete;

  /// Of a part of it.
  void prefer_large_pages(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    rondo::prefer_large_pages(base_ + offset, bytes);
  }

  std::byte* data() const noexcept { return base_; }
  std::size_t size() const noexcept { return bytes_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_;
};

}  // namespace rondo
