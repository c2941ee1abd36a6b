// Bins of tiles that a GPU sorts by CUB's device-wide scan, sort and selection, from an array of shapes in its memory.
// They are equal to those of tile_layer.hpp, but that each group of shapes is in bins or not, in place of a whole part.
//
//   carver measure(nullptr);
//   cub_bins<pixels::segment>(measure, nullptr, nullptr, limits);  // measure.used() bytes of the GPU's memory
//   cub_bins<pixels::segment> const bins(memory, shapes, count, limits);
//   graph->capture([&](rondo::stream& s, ...) { bins.sort(s.native()); });
//
// The memory, and what `shapes` and `count` point to, must outlive the stream's work, or the graph. A graph that is
// replayed sorts the shapes that are there then.
//
// Not installed, and no stage uses it: it is not yet known to be faster (docs/render.md).
#pragma once

#include "actors/video/overlay/bin_pairs.hpp"
#include "kernels/pixels/overlay/boxes.hpp"
#include "kernels/pixels/overlay/dots.hpp"
#include "kernels/pixels/overlay/strokes.hpp"

namespace rondo::video {

/// Of segments, dots or boxes. Threads: one at a time.
template <class Shape>
class cub_bins {
 public:
  /// `shapes`, and `count`, which says how many there are, are in the GPU's memory. Needs a GPU even to measure, for
  /// each generation sorts in its own way. Throws std::runtime_error if there is none, and std::invalid_argument if
  /// the limits cannot be.
  cub_bins(carver& memory, Shape const* shapes, std::uint32_t const* count, bin_limits const& limits);

  /// Puts the steps on a cudaStream_t, which may be being captured: they neither wait nor allocate. Throws
  /// std::runtime_error with CUDA's reason.
  void sort(void* stream) const;

  // Where they are, in the GPU's memory.

  /// `counts` is null.
  pixels::bin_tables const& bins() const noexcept { return pairs_.bins; }
  bin_report const* report() const noexcept { return pairs_.report; }

 private:
  bin_pairs<Shape> pairs_;
  std::size_t scratch_bytes_ = 0;
  std::byte* scratch_ = nullptr;  // CUB's
};

}  // namespace rondo::video
