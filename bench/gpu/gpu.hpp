// The helpers that the bare CUDA code of the benches shares: one function that checks errors, a stream and memory that are
// freed with their scope, flags in pinned memory, and facts about the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstring>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/atomic.hpp"

namespace rondo::bench::gpu {

/// Throws std::runtime_error with the location of the call and CUDA's error text.
void check(cudaError_t outcome, std::source_location where = std::source_location::current());

/// Facts for the provenance of results: name, clocks (those that the driver reports, and one that was just measured),
/// versions, and how the GPU is connected.
std::vector<std::pair<std::string, std::string>> facts();
/// "eager" or "lazy", as reported by the driver.
std::string module_loading();

/// A stream that does not wait for other streams, and that other streams do not wait for.
class stream {
 public:
  stream() { check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking)); }
  ~stream() { cudaStreamDestroy(handle_); }
  stream(stream const&) = delete;
  stream& operator=(stream const&) = delete;

  operator cudaStream_t() const noexcept { return handle_; }
  void wait() const { check(cudaStreamSynchronize(handle_)); }

 private:
  cudaStream_t handle_ = nullptr;
};

/// Zeroed host memory that the GPU reaches over the bus. Create and destroy it while no endless kernel runs: CUDA would wait
/// for that kernel.
template <class T>
class pinned {
 public:
  explicit pinned(std::size_t count = 1, unsigned flags = cudaHostAllocDefault) {
    void* at = nullptr;
    check(cudaHostAlloc(&at, count * sizeof(T), cudaHostAllocMapped | flags));
    host_ = static_cast<T*>(at);
    std::memset(at, 0, count * sizeof(T));
    check(cudaHostGetDevicePointer(&at, host_,
                                   0));  // differs from the host's address for write-combined memory
    device_ = static_cast<T*>(at);
  }
  ~pinned() { cudaFreeHost(host_); }
  pinned(pinned const&) = delete;
  pinned& operator=(pinned const&) = delete;

  T* operator->() const noexcept { return host_; }
  T& operator*() const noexcept { return *host_; }
  T& operator[](std::size_t i) const noexcept { return host_[i]; }
  T* on_device() const noexcept { return device_; }

 private:
  T *host_ = nullptr, *device_ = nullptr;
};

/// A word of the host and a word of the GPU, each with one writer. Both relaxed: only a number is passed.
struct flags {
  alignas(128) atomic<std::uint32_t, scope::system> asked;
  alignas(128) atomic<std::uint32_t, scope::system> answered;
};
inline constexpr std::uint32_t stop_asked = ~0u;

/// At the end of the scope, asks a kernel that serves `flags` to end, and waits until it has ended.
class kernel_end {
 public:
  kernel_end(flags& of, stream const& in) noexcept : flags_(of), stream_(in) {}
  ~kernel_end() {
    flags_.asked.store(stop_asked, memory_order::relaxed);  // relaxed: only a number
    cudaStreamSynchronize(stream_);
  }
  kernel_end(kernel_end const&) = delete;
  kernel_end& operator=(kernel_end const&) = delete;

 private:
  flags& flags_;
  stream const& stream_;
};

#if defined(__CUDACC__)
/// Ends a kernel whose host is gone: `over` returns true some 20 seconds after the last `alive`. Reads the clock rarely.
struct dead_man {
  std::uint32_t looks = 0;
  std::uint64_t since_ns = now();

  __device__ static std::uint64_t now() {
    std::uint64_t t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
  }
  __device__ void alive() { looks = 0, since_ns = now(); }
  __device__ bool over() { return (++looks & 0xfff) == 0 && now() - since_ns > 20'000'000'000; }
};
#endif

}  // namespace rondo::bench::gpu
