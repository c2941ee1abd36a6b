// Bins that CUB sorts on a GPU, compared with those of the portable sort: put on a stream, and as a captured graph.
#include <optional>

#include "bench/gpu/sorted_bins.hpp"
#include "runtime/device/cuda/cuda_graphs.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/bin_scenes.hpp"
#include "tests/seed.hpp"

namespace bins_gpu_test {
namespace {

using render_bench::expected_bins;
using rondo::bench::gpu::sorted_bins;

/// A graph that was captured once.
template <class Shape>
class captured_sort {
 public:
  explicit captured_sort(sorted_bins<Shape> const& bins) {
    graph_->capture([&](rondo::stream& s) { bins.sort(s.native()); });
  }
  void replay() { REQUIRE(graph_->replay()); }

 private:
  rondo::cuda_graphs engine_{0, [](cudaError_t e, char const* what) { return rondo::check(e, what), true; }};
  std::unique_ptr<rondo::graph> graph_ = engine_.make_graph();
};

template <class Shape>
void compare(char const* test) {
  for (auto const& s : bin_scenes::all_scenes<Shape>(rondo_test::seed_of(test), 3840, 2160, 20'000)) {
    INFO(s.name);
    auto const expected = expected_bins(s.shapes, s.limits);
    CHECK((expected.first_unbinned == s.shapes.size()) == s.finds_room);
    sorted_bins<Shape> bins(s.limits);
    bins.put(s.shapes);
    bins.sort_and_wait();
    CHECK(bins.found() == expected);
    captured_sort<Shape> graph(bins);
    for (int round = 0; round < 3; ++round) {
      bins.put(s.shapes);
      graph.replay();
      CHECK(bins.found() == expected);
    }
    CHECK(bins.is_kept());
  }
}

}  // namespace

TEST_CASE("a GPU sorts lines into the bins of the portable sort, directly and by a captured graph",
          "[gpu][bins]") {
  compare<rondo::pixels::segment>("bins of lines");
}
TEST_CASE("a GPU sorts boxes into the bins of the portable sort, directly and by a captured graph",
          "[gpu][bins]") {
  compare<rondo::pixels::box_shape>("bins of boxes");
}

TEST_CASE("a captured sort takes the shapes that are there when it is replayed", "[gpu][bins]") {
  sorted_bins<rondo::pixels::box_shape> bins({500, 3840, 2160});
  std::optional<captured_sort<rondo::pixels::box_shape>> graph;
  std::vector<rondo::pixels::box_shape> shapes;
  for (auto const count : {500, 3, 0, 77}) {
    shapes.clear();
    for (int n = 0; n < count; ++n) {
      auto const at = static_cast<float>(n * 7 + count);
      bin_scenes::add(shapes, at, at / 2, at + 200, at / 2 + 100, 3);
    }
    bins.put(shapes);
    if (!graph) graph.emplace(bins);
    graph->replay();
    CHECK(bins.found() == expected_bins(shapes, {500, 3840, 2160}));
  }
}

TEST_CASE("a GPU does not believe a number of shapes beyond what bins are for", "[gpu][bins]") {
  std::vector<rondo::pixels::segment> lines;
  for (int n = 0; n < 4; ++n) bin_scenes::add(lines, 100, 100, 200, 150, 3);
  sorted_bins<rondo::pixels::segment> bins({4, 640, 360});
  bins.put(lines, 4'000'000'000);
  bins.sort_and_wait();
  CHECK(bins.found() == expected_bins(lines, {4, 640, 360}));
}

}  // namespace bins_gpu_test
