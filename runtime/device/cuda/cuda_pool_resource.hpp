// A stream-ordered cuda::mr resource over a pool of GPU memory or pinned memory, for CCCL's containers and algorithms.
//
//   rondo::cuda_pool_resource<cuda::mr::device_accessible> memory(rt.buffers(1));
//
// Memory deallocated on a stream is reused once the stream has reached that point, which an event signals. So no call
// waits, and no memory has two users. cuda::mr is experimental in CUDA 13: define
// LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE.
//
// Threads: any. Lifetime: as pool_resource; the destructor waits for streams that still use deallocated memory.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cuda/memory_resource>
#include <cuda/stream_ref>
#include <vector>

#include "runtime/memory/pool_resource.hpp"
#include "runtime/os/made_here.hpp"

namespace rondo {

/// `Properties`: of the pool's memory: cuda::mr::device_accessible, host_accessible (pinned memory has both).
template <class... Properties>
class cuda_pool_resource final : public pool_resource {
 public:
  using pool_resource::pool_resource;
  ~cuda_pool_resource() override {
    if (!made_here_) return;  // a forked child has no CUDA
    for (auto const& r : returned_) {
      cudaEventSynchronize(r.passed);  // a fault of the GPU also ends the wait
      give_back(r);
    }
  }

  /// The memory is usable at once on any stream. Throws std::bad_alloc.
  void* allocate_async(std::size_t bytes, std::size_t alignment, cuda::stream_ref) {
    collect();
    return allocate(bytes, alignment);
  }
  void* allocate_async(std::size_t bytes, cuda::stream_ref stream) {
    return allocate_async(bytes, 64, stream);
  }
  /// The memory is freed when `stream` has reached this point.
  void deallocate_async(void* p, std::size_t bytes, std::size_t alignment, cuda::stream_ref stream) {
    returned r{nullptr, p, bytes, alignment};
    if (cudaEventCreateWithFlags(&r.passed, cudaEventDisableTiming) != cudaSuccess ||
        cudaEventRecord(r.passed, stream.get()) != cudaSuccess) {
      cudaStreamSynchronize(stream.get());  // without an event: wait
      return give_back(r);
    }
    std::lock_guard lock(mutex_);
    returned_.push_back(r);
  }
  void deallocate_async(void* p, std::size_t bytes, cuda::stream_ref stream) {
    deallocate_async(p, bytes, 64, stream);
  }

  /// Returns the memory that streams have finished with to the pool. Each allocate_async does so too.
  void collect() {
    std::vector<returned> passed;
    {
      std::lock_guard lock(mutex_);
      auto const first = std::partition(returned_.begin(), returned_.end(), [](returned const& r) {
        return cudaEventQuery(r.passed) == cudaErrorNotReady;
      });
      passed.assign(first, returned_.end());
      returned_.erase(first, returned_.end());
    }
    cudaGetLastError();  // "not ready" is not an error
    for (auto const& r : passed) give_back(r);
  }

  friend bool operator==(cuda_pool_resource const& a, cuda_pool_resource const& b) noexcept {
    return &a == &b;
  }
  template <class Property>
  requires(std::is_same_v<Property, Properties> || ...) friend void get_property(cuda_pool_resource const&,
                                                                                 Property) noexcept {}

 private:
  struct returned {
    cudaEvent_t passed;
    void* p;
    std::size_t bytes, alignment;
  };
  void give_back(returned const& r) {
    if (r.passed != nullptr) cudaEventDestroy(r.passed);
    deallocate(r.p, r.bytes, r.alignment);
  }

  std::mutex mutex_;
  std::vector<returned> returned_;  // guarded by mutex_
  made_here made_here_{};
};

}  // namespace rondo
