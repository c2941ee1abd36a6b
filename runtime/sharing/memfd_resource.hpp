// An upstream for buffer pools in memory that other processes can map: one memfd of fixed size (elsewhere than on
// Linux, an object of shm_open).
//
//   rondo::memfd_resource shared(64 << 20);
//   rondo::buffer_pool pool({.cap_bytes = 48 << 20, .upstream = &shared});   // the rest is room for copies
//   rondo::buffer_exporter exporter(shared, {.path = "/run/user/1000/frames"});
//
// Only this process can write it: others get a descriptor that cannot be written. **Threads**: any; several pools may
// use it. **Lifetime**: must outlive the pools and the exporter. The memory itself lives as long as any importer maps
// it. Pages cost nothing until they are touched, and then stay until the end: sealed memory cannot be returned
// piecemeal.
#pragma once

#include <functional>
#include <mutex>

#include "runtime/memory/region_resource.hpp"
#include "runtime/sharing/memfd.hpp"

namespace rondo {

class memfd_resource final : public std::pmr::memory_resource {
 public:
  /// `bytes` are rounded up to whole pages. Throws std::system_error.
  explicit memfd_resource(std::uint64_t bytes, char const* name = "rondo-buffers")
      : memory_(name, align_up(bytes, 4096)), region_(memory_.mapping.data(), memory_.mapping.size()) {}

  /// The descriptor that importers map for reading.
  int fd() const noexcept { return memory_.fd.get(); }
  /// The first byte.
  std::byte* data() const noexcept { return memory_.mapping.data(); }
  /// The number of bytes.
  std::uint64_t size() const noexcept { return memory_.mapping.size(); }
  /// Whether the address is in this memory.
  bool holds(std::byte const* p) const noexcept {
    return !std::less<>{}(p, data()) && std::less<>{}(p, data() + size());
  }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    auto const lock = std::lock_guard(mutex_);
    return region_.allocate(bytes, alignment);
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
    auto const lock = std::lock_guard(mutex_);
    region_.deallocate(p, bytes, alignment);
  }
  bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }

  own_memory memory_;
  std::mutex mutex_;
  region_resource region_;
};

}  // namespace rondo
