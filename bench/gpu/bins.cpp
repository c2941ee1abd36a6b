// Bins of tiles: sorted by CUB in a captured graph, and by the portable sort on one thread of the host.
#include "bench/gpu/cases.hpp"
#include "bench/gpu/sorted_bins.hpp"
#include "bench/harness/sampling.hpp"
#include "bench/render/scene_shapes.hpp"
#include "runtime/device/cuda/cuda_graphs.hpp"

namespace rondo::bench::gpu {
namespace {

/// 500 lines and 100 boxes at 4K.
struct shapes_of_frame {
  render_bench::scene about = [] {
    render_bench::scene s;
    s.lines = 500, s.boxes = 100;
    return s;
  }();
  std::vector<pixels::segment> lines = render_bench::lines_of(about);
  std::vector<pixels::box_shape> boxes = render_bench::boxes_of(about);

  video::bin_limits limits(std::size_t count) const {
    return {static_cast<std::uint32_t>(count), about.width, about.height};
  }
};

measurement by_one_thread(sample_budget const& budget) {
  shapes_of_frame const frame;
  render_bench::portable_sort<pixels::segment> lines(frame.limits(frame.lines.size()));
  render_bench::portable_sort<pixels::box_shape> boxes(frame.limits(frame.boxes.size()));
  return durations(budget, "bins_ns",
                   [&](std::uint64_t) { lines.sort(frame.lines), boxes.sort(frame.boxes); });
}

template <class Shape>
void compare(char const* what, sorted_bins<Shape> const& bins, std::vector<Shape> const& shapes,
             video::bin_limits const& limits) {
  if (bins.found() != render_bench::expected_bins(shapes, limits))
    throw std::runtime_error(std::string("the GPU's bins of ") + what +
                             " differ from those of the portable sort");
}

/// The replay of both sorts, until it is known that it has ended.
measurement by_captured_graph(sample_budget const& budget) {
  rondo::check(cudaSetDevice(0), "selecting the GPU");
  shapes_of_frame const frame;
  auto const for_lines = frame.limits(frame.lines.size()), for_boxes = frame.limits(frame.boxes.size());
  sorted_bins<pixels::segment> lines(for_lines);
  sorted_bins<pixels::box_shape> boxes(for_boxes);
  lines.put(frame.lines), boxes.put(frame.boxes);
  cuda_graphs engine(0, [](cudaError_t e, char const* what) { return rondo::check(e, what), true; });
  auto const graph = engine.make_graph();
  graph->capture([&](rondo::stream& s) { lines.sort(s.native()), boxes.sort(s.native()); });
  auto const replay = [&](std::uint64_t) {
    if (!graph->replay()) throw std::runtime_error("the graph was not replayed");
  };
  replay(0);
  compare("lines", lines, frame.lines, for_lines);
  compare("boxes", boxes, frame.boxes, for_boxes);
  return durations(budget, "bins_ns", replay);
}

}  // namespace

case_list bins_cases() {
  std::vector<std::pair<std::string, std::string>> const frame{{"lines", "500"}, {"boxes", "100"}};
  return {{"gpu_bins", "portable, one thread of the host", frame, by_one_thread, true},
          {"gpu_bins", "CUB in a captured graph", frame, by_captured_graph}};
}

}  // namespace rondo::bench::gpu
