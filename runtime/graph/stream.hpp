// What a graph is recorded through: steps of work for one device, one after the other.
//
//   auto const work = [=](rondo::stream& s, scale const* in, scaled* out) {
//     s.for_each(count, [=] RONDO_HD(std::uint32_t i) { field[i] *= in->factor; });
//     s.for_each(1, [=] RONDO_HD(std::uint32_t) { out->count = count; });
//   };
//
// `native` is the cudaStream_t that is being captured, for kernels of one's own and for libraries (cuBLAS, CUB); code that
// is to run on every device stays with for_each. A file that records for_each on a GPU is compiled by nvcc, as modules are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>

#if defined(__CUDACC__)
#include "runtime/graph/cuda_for_each.hpp"
#endif

namespace rondo {

/// Addresses on the device are those of buffer_pool::address_of. All that is named must be there as long as the graph.
/// Threads: the one that records.
class stream {
 public:
  virtual ~stream() = default;

  /// Within the device's memory. Precondition: the ranges do not overlap.
  virtual void copy(std::byte* to, std::byte const* from, std::uint64_t bytes) = 0;
  virtual void fill(std::byte* to, std::uint8_t value, std::uint64_t bytes) = 0;
  /// Between the host and the device; pinned memory is faster.
  virtual void copy_to_device(std::byte* to, std::byte const* from, std::uint64_t bytes) = 0;
  virtual void copy_to_host(std::byte* to, std::byte const* from, std::uint64_t bytes) = 0;
  /// On a thread of the host, between the steps before and after it. Must not throw, nor call CUDA.
  virtual void call(std::function<void()> step) = 0;

  /// Calls element(i) for each i below `count`, on the device, in no order. Throws std::logic_error when the device is a GPU and
  /// this file was not compiled for one.
  template <class Element>
  void for_each(std::uint32_t count, Element element) {
#if defined(__CUDACC__)
    if (native() != nullptr) return launch_for_each(native(), count, element);
#endif
    if (native() != nullptr)
      throw std::logic_error("for_each on a GPU: compile the file that records it with nvcc (.cu)");
    run([count, element] {
      for (std::uint32_t i = 0; i < count; ++i) element(i);
    });
  }

  /// The cudaStream_t that is captured; null on a device that is not a GPU.
  virtual void* native() const noexcept { return nullptr; }

 protected:
  /// What stands for a kernel where the device is threads of the host.
  virtual void run(std::function<void()> kernel) = 0;
};

}  // namespace rondo
