// Shapes in the memory of the first GPU, and the bins that it sorts them into, for tests and benches. No ring kernel
// may run: the calls wait for the whole GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <vector>

#include "actors/video/overlay/cub_bins.hpp"
#include "bench/render/portable_bins.hpp"
#include "runtime/device/cuda/cuda_call.hpp"

namespace rondo::bench::gpu {

/// Memory of the GPU, filled with a pattern.
class gpu_block {
 public:
  explicit gpu_block(std::size_t bytes) : bytes_(bytes + guard_bytes) {
    rondo::check(cudaMalloc(&at_, bytes_), "allocating memory");
    spoil();
  }
  ~gpu_block() { cudaFree(at_); }
  gpu_block(gpu_block const&) = delete;
  gpu_block& operator=(gpu_block const&) = delete;

  void* at() const noexcept { return at_; }
  /// What was there is lost.
  void spoil() const { rondo::check(cudaMemset(at_, pattern, bytes_), "filling memory"); }
  /// Whether nothing was written behind its end.
  bool is_kept() const {
    std::vector<unsigned char> guard(guard_bytes);
    auto const* const end = static_cast<unsigned char const*>(at_) + bytes_ - guard_bytes;
    rondo::check(cudaMemcpy(guard.data(), end, guard_bytes, cudaMemcpyDeviceToHost), "reading memory");
    return guard == std::vector<unsigned char>(guard_bytes, pattern);
  }

 private:
  static constexpr std::size_t guard_bytes = 256;
  static constexpr unsigned char pattern = 0xee;

  std::size_t bytes_;
  void* at_ = nullptr;
};

template <class Shape>
class sorted_bins {
 public:
  explicit sorted_bins(video::bin_limits const& limits)
      : limits_(limits),
        shapes_(limits.most * sizeof(Shape)),
        count_(sizeof(std::uint32_t)),
        block_(bytes_for(limits)),
        memory_(block_.at()),
        bins_(memory_, static_cast<Shape const*>(shapes_.at()),
              static_cast<std::uint32_t const*>(count_.at()), limits) {}

  /// At most as many as it was made for, and how many the GPU is told. Forgets the bins.
  void put(std::vector<Shape> const& shapes, std::uint32_t told) {
    if (shapes.size() > limits_.most) throw std::logic_error("more shapes than these bins were made for");
    block_.spoil();
    if (!shapes.empty())
      rondo::check(
          cudaMemcpy(shapes_.at(), shapes.data(), shapes.size() * sizeof(Shape), cudaMemcpyHostToDevice),
          "writing shapes");
    rondo::check(cudaMemcpy(count_.at(), &told, sizeof told, cudaMemcpyHostToDevice), "writing their number");
    // The stream that sorts does not wait for these.
    rondo::check(cudaDeviceSynchronize(), "writing shapes");
  }
  void put(std::vector<Shape> const& shapes) { put(shapes, static_cast<std::uint32_t>(shapes.size())); }
  void sort(void* stream) const { bins_.sort(stream); }
  /// On a stream of its own.
  void sort_and_wait() const {
    cudaStream_t own{};
    rondo::check(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), "creating a stream");
    bins_.sort(own);
    rondo::check(cudaStreamSynchronize(own), "sorting");
    rondo::check(cudaStreamDestroy(own), "destroying a stream");
  }

  /// What was sorted. Precondition: the stream has been waited for.
  render_bench::found_bins found() const {
    auto const& b = bins_.bins();
    auto const report = read(bins_.report(), 1)[0];
    render_bench::found_bins f;
    f.begins = read(b.begins, static_cast<std::size_t>(b.tiles) + 1);
    // What is wrong is shown, not believed.
    auto const tiles = static_cast<std::uint32_t>(b.tiles);
    f.touched = read(b.touched, report.touched < tiles ? report.touched : tiles);
    auto const room = 8 * limits_.most + 4 * tiles;
    f.shapes = read(b.shapes, f.begins.back() < room ? f.begins.back() : room);
    f.first_unbinned = report.first_unbinned;
    return f;
  }
  /// Whether it has kept to its memory.
  bool is_kept() const { return shapes_.is_kept() && count_.is_kept() && block_.is_kept(); }

 private:
  static std::size_t bytes_for(video::bin_limits const& limits) {
    video::carver measure(nullptr);
    video::cub_bins<Shape>(measure, nullptr, nullptr, limits);
    return measure.used();
  }
  template <class T>
  static std::vector<T> read(T const* from, std::size_t count) {
    std::vector<T> all(count);
    rondo::check(cudaMemcpy(all.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost), "reading bins");
    return all;
  }

  video::bin_limits limits_;
  gpu_block shapes_, count_, block_;
  video::carver memory_;
  video::cub_bins<Shape> bins_;
};

}  // namespace rondo::bench::gpu
