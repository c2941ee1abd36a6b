// What the bare CUDA code of benches and probes shares: one function that checks errors, a stream and memory that are
// freed with their scope, a kernel that serves flags in pinned memory until it is told to end, and facts about the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstring>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/atomic.hpp"

namespace rondo::bench::gpu {

/// Throws std::runtime_error with the location of the call and CUDA's error text.
void check(cudaError_t outcome, std::source_location where = std::source_location::current());

/// Facts for the provenance of results: name, versions, and the clock that was just measured.
std::vector<std::pair<std::string, std::string>> facts();
/// The clock of a multiprocessor, measured for 20 ms.
double multiprocessor_mhz();

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

/// Zeroed host memory that the GPU reaches over the bus. Create and destroy it while no endless kernel runs: CUDA would
/// wait for that kernel.
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

/// A kernel that answers each number with the next one, on the stream `in`; only its first block does. It ends with its
/// owner, or some 20 seconds after the last question.
class flag_server {
 public:
  /// `cooperative`: starts only if all blocks can run at once.
  flag_server(pinned<flags> const& shared, stream const& in, unsigned blocks = 1, bool cooperative = false);
  ~flag_server() { end(); }
  flag_server(flag_server const&) = delete;
  flag_server& operator=(flag_server const&) = delete;

  /// Polls for the answer. Precondition: `number` is neither 0 nor the last one.
  std::uint32_t ask(std::uint32_t number) const {
    flags_.asked.store(number, memory_order::relaxed);  // relaxed, both: only a number
    std::uint32_t answer = 0;
    while ((answer = flags_.answered.load(memory_order::relaxed)) != number + 1) {
    }
    return answer;
  }
  /// Whether it answers within `patience`.
  bool is_running(std::chrono::milliseconds patience) const;
  /// Asks the kernel to end, without waiting.
  void ask_to_end() const noexcept { flags_.asked.store(stop_asked, memory_order::relaxed); }
  void end() const noexcept {
    ask_to_end();
    cudaStreamSynchronize(stream_);
  }

 private:
  flags& flags_;
  stream const& stream_;
};

#if defined(__CUDACC__)
/// Ends a kernel whose host is gone: `over` returns true some 20 seconds after the last `alive`. Reads the clock
/// rarely.
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
