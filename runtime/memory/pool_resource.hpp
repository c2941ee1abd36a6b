// A pool as a std::pmr::memory_resource: containers and libraries take their memory from it, under its cap.
//
//   rondo::pool_resource memory(rt.host_buffers());
//   std::pmr::vector<float> samples(&memory);
//
// It satisfies cuda::mr's `resource`, too; runtime/device/cuda/cuda_pool_resource.hpp adds what is stream-ordered. Over a pool of
// a device's memory the addresses are the device's.
//
// Threads: any. Lifetime: shorter than the pool's; longer than what it has handed out.
#pragma once

#include <memory_resource>
#include <mutex>
#include <unordered_map>

#include "runtime/memory/buffer_pool.hpp"

namespace rondo {

class pool_resource : public std::pmr::memory_resource {
 public:
  explicit pool_resource(buffer_pool& pool) noexcept : pool_(pool) {}
  pool_resource(pool_resource const&) = delete;
  pool_resource& operator=(pool_resource const&) = delete;

  buffer_pool& pool() const noexcept { return pool_; }

 private:
  /// Throws std::bad_alloc when the pool refuses, or for more than its blocks are aligned to: 64 bytes, from 16 KiB on 4 KiB.
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }

  buffer_pool& pool_;
  std::mutex mutex_;
  std::unordered_map<void*, buffer_ref> out_;  // guarded by mutex_
};

}  // namespace rondo
