// The interface through which a graph is captured: steps of work for one device, in order.
//
//   auto const work = [=](rondo::stream& s, scale const* in, scaled* out) {
//     s.for_each(count, [=] RONDO_HD(std::uint32_t i) { field[i] *= in->factor; });
//     s.for_each(1, [=] RONDO_HD(std::uint32_t) { out->count = count; });
//   };
//
// `native` is the cudaStream_t that is being captured, for custom kernels and for libraries (cuBLAS, CUB). Code for all
// devices uses only for_each. A file that captures for_each on a GPU must be compiled by nvcc, as modules are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>

#if defined(__CUDACC__)
#include "runtime/graph/cuda_for_each.hpp"
#endif

namespace rondo {

/// Device addresses come from buffer_pool::address_of. All memory that is used must outlive the graph.
/// Threads: only the capturing thread.
class stream {
 public:
  virtual ~stream() = default;

  /// Within the device's memory. Precondition: the ranges do not overlap.
  virtual void copy(std::byte* to, std::byte const* from, std::uint64_t bytes) = 0;
  /// Sets each byte of a range of the device's memory.
  virtual void fill(std::byte* to, std::uint8_t value, std::uint64_t bytes) = 0;
  /// Between the host and the device; pinned memory is faster.
  virtual void copy_to_device(std::byte* to, std::byte const* from, std::uint64_t bytes) = 0;
  /// The other way.
  virtual void copy_to_host(std::byte* to, std::byte const* from, std::uint64_t bytes) = 0;
  /// Runs `step` on a host thread, between the steps before and after it. It must not throw, call CUDA, or wait for a
  /// step of another graph: CUDA's driver runs the steps of all graphs one after the other.
  virtual void call(std::function<void()> step) = 0;

  /// Calls element(i) on the device for each i below `count`, in any order. Throws std::logic_error if the device is a
  /// GPU but this file was not compiled by nvcc.
  template <class Element>
  void for_each(std::uint32_t count, Element element) {
#if defined(__CUDACC__)
    if (native() != nullptr) return launch_for_each(native(), count, element);
#endif
    if (native() != nullptr)
      throw std::logic_error("for_each on a GPU: compile the file that captures it with nvcc (.cu)");
    run([count, element] {
      for (std::uint32_t i = 0; i < count; ++i) element(i);
    });
  }

  /// The cudaStream_t that is being captured; null if the device is not a GPU.
  virtual void* native() const noexcept { return nullptr; }

 protected:
  /// Adds the replacement of a kernel, on devices that run on host threads.
  virtual void run(std::function<void()> kernel) = 0;
};

}  // namespace rondo
