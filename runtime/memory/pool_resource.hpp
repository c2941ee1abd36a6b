// A std::pmr::memory_resource over a pool: containers and libraries allocate from it, under its cap.
//
//   rondo::pool_resource memory(rt.host_buffers());
//   std::pmr::vector<float> samples(&memory);
//
// It also satisfies cuda::mr's `resource`; runtime/device/cuda/cuda_pool_resource.hpp adds stream-ordered allocation.
// For a device's pool, the addresses are the device's.
//
// Threads: any. Lifetime: must not outlive the pool; must outlive its allocations.
#pragma once

#include <memory_resource>
#include <mutex>
#include <unordered_map>

#include "runtime/memory/buffer_pool.hpp"

namespace rondo {

class pool_resource : public std::pmr::memory_resource {
 public:
  /// Allocates from `pool`.
  explicit pool_resource(buffer_pool& pool) noexcept : pool_(pool) {}
  pool_resource(pool_resource const&) = delete;
  pool_resource& operator=(pool_resource const&) = delete;

  /// The pool that it allocates from.
  buffer_pool& pool() const noexcept { return pool_; }

 private:
  /// Throws std::bad_alloc if the pool refuses, or if `alignment` exceeds 4 KiB. Above 64 bytes of alignment, allocates
  /// at least 16 KiB.
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }

  buffer_pool& pool_;
  std::mutex mutex_;
  std::unordered_map<void*, buffer_ref> out_;  // guarded by mutex_
};

}  // namespace rondo
