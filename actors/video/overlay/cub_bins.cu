#include "actors/video/overlay/cub_bins.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "runtime/device/cuda/cuda_call.hpp"
#include "runtime/graph/cuda_for_each.hpp"

namespace rondo::video {
namespace {

template <class Shape>
struct count_step {
  bin_pairs<Shape> pairs;
  RONDO_HD void operator()(std::uint32_t shape) const { pairs.count(shape); }
};
template <class Shape>
struct write_step {
  bin_pairs<Shape> pairs;
  RONDO_HD void operator()(std::uint32_t place) const { pairs.write(place); }
};
template <class Shape>
struct find_step {
  bin_pairs<Shape> pairs;
  RONDO_HD void operator()(std::uint32_t tile) const { pairs.find(tile); }
};
template <class Shape>
struct touched_tile {
  bin_pairs<Shape> pairs;
  RONDO_HD bool operator()(std::uint32_t tile) const { return pairs.is_touched(tile); }
};

// Each takes its memory at `scratch`; with null there, it only says in `bytes` how much it takes.

template <class Shape>
void scan(bin_pairs<Shape> const& p, void* scratch, std::size_t& bytes, cudaStream_t on) {
  check(cub::DeviceScan::ExclusiveSum(scratch, bytes, p.begins, p.limits.most + 1, on),
        "scanning counts of bins");
}
template <class Shape>
void sort_pairs(bin_pairs<Shape> const& p, void* scratch, std::size_t& bytes, cudaStream_t on) {
  // Up to the tile that the picture does not have.
  auto const bits = static_cast<int>(std::bit_width(p.tile_count()));
  check(cub::DeviceRadixSort::SortPairs(scratch, bytes, p.tiles, p.sorted, p.numbers, p.bins.shapes, p.places,
                                        0, bits, on),
        "sorting shapes into bins");
}
template <class Shape>
void select_touched(bin_pairs<Shape> const& p, void* scratch, std::size_t& bytes, cudaStream_t on) {
  check(cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<std::uint32_t>(0), p.bins.touched,
                              &p.report->touched, p.tile_count(), touched_tile<Shape>{p}, on),
        "finding tiles that are not empty");
}

}  // namespace

template <class Shape>
cub_bins<Shape>::cub_bins(carver& memory, Shape const* shapes, std::uint32_t const* count,
                          bin_limits const& limits)
    : pairs_(memory, shapes, count, limits) {
  if (limits.most > bin_limits::most_shapes || limits.each == 0)
    throw std::invalid_argument("bins for " + std::to_string(limits.most) + " shapes in groups of " +
                                std::to_string(limits.each) + ": make them for at most " +
                                std::to_string(bin_limits::most_shapes) + ", in groups of at least 1");
  for (auto* const step : {&scan<Shape>, &sort_pairs<Shape>, &select_touched<Shape>}) {
    std::size_t bytes = 0;
    step(pairs_, nullptr, bytes, nullptr);
    scratch_bytes_ = std::max(scratch_bytes_, bytes);
  }
  scratch_ = memory.take<std::byte>(scratch_bytes_);
}

template <class Shape>
void cub_bins<Shape>::sort(void* stream) const {
  // CUB would take it as a question for how much it needs.
  if (scratch_ == nullptr)
    throw std::logic_error("these bins were only measured: make them in memory of that size to sort");
  auto const on = static_cast<cudaStream_t>(stream);
  auto bytes = scratch_bytes_;
  launch_for_each(stream, pairs_.limits.most + 1, count_step<Shape>{pairs_});
  scan(pairs_, scratch_, bytes, on);
  launch_for_each(stream, pairs_.places, write_step<Shape>{pairs_});
  sort_pairs(pairs_, scratch_, bytes, on);
  launch_for_each(stream, pairs_.tile_count() + 1, find_step<Shape>{pairs_});
  select_touched(pairs_, scratch_, bytes, on);
}

template class cub_bins<pixels::segment>;
template class cub_bins<pixels::dot_shape>;
template class cub_bins<pixels::box_shape>;

}  // namespace rondo::video
