// Zeroed, page-aligned memory for an arena. Pages cost nothing until they are touched.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>

#include "kernels/base/portable.hpp"

namespace rondo {

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

  /// Asks for large pages for a part that fills up from its beginning: the system makes one with less work than 512
  /// small ones. Without effect where it has none, and for less than a large page.
  void prefer_large_pages([[maybe_unused]] std::uint64_t offset,
                          [[maybe_unused]] std::uint64_t bytes) const noexcept {
#if RONDO_LINUX
    auto const end = offset + bytes;
    offset = align_up(offset, page_bytes);
    if (offset < end) static_cast<void>(madvise(base_ + offset, end - offset, MADV_HUGEPAGE));
#endif
  }

  std::byte* data() const noexcept { return base_; }
  std::size_t size() const noexcept { return bytes_; }

 private:
  static constexpr std::uint64_t page_bytes = 4096;

  std::byte* base_ = nullptr;
  std::size_t bytes_;
};

}  // namespace rondo
