// Bins that a GPU sorts, but for CUB's part: the machine executes what nvcc makes of the other steps, and the scan, the
// sort and the selection between them are the standard library's. tests/gpu/bins_test.cpp runs all of it on a GPU.
#include "tests/ptx/bins/bin_kernels.hpp"

#include <algorithm>
#include <numeric>

#include "tests/catch.hpp"
#include "tests/gpu/bin_scenes.hpp"
#include "tests/ptx/text_ptx.hpp"
#include "tests/seed.hpp"

namespace bins_test {
namespace {

using rondo::video::bin_limits;
using rondo::video::bin_pairs;

struct kernel_names {
  char const *count, *write, *find, *touch;
};

template <class Shape>
class executed_steps {
 public:
  /// `given`: how many shapes the device is told.
  executed_steps(ptx::module const& code, std::vector<Shape> const& shapes, std::uint32_t given,
                 bin_limits const& limits)
      : code_(code), shapes_(shapes), given_{given}, pairs_(carve(limits)) {}

  render_bench::found_bins sort(kernel_names const& names) {
    auto const& p = pairs_;
    auto const tiles = p.tile_count();
    run(names.count, p.limits.most + 1);
    std::exclusive_scan(p.begins, p.begins + p.limits.most + 1, p.begins, std::uint64_t{0});
    run(names.write, p.places);
    std::vector<std::uint32_t> order(p.places);
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t place) { return p.tiles[place]; });
    for (std::uint32_t n = 0; n < p.places; ++n)
      p.sorted[n] = p.tiles[order[n]], p.bins.shapes[n] = p.numbers[order[n]];
    run(names.find, tiles + 1);
    std::vector<std::uint32_t> is_touched(tiles);
    memory_ = {ptx_test::range_of(is_touched)};
    auto* const touched = is_touched.data();
    run(names.touch, tiles, touched);

    render_bench::found_bins f;
    f.begins.assign(p.bins.begins, p.bins.begins + tiles + 1);
    f.shapes.assign(p.bins.shapes, p.bins.shapes + f.begins.back());
    for (std::uint32_t t = 0; t < tiles; ++t)
      if (is_touched[t] != 0) f.touched.push_back(t);
    f.first_unbinned = p.report->first_unbinned;
    return f;
  }

 private:
  bin_pairs<Shape> carve(bin_limits const& limits) {
    rondo::video::carver measure(nullptr);
    bin_pairs<Shape>(measure, nullptr, nullptr, limits);
    block_.resize(measure.used(), std::byte{0xee});
    rondo::video::carver carved(block_.data());
    return bin_pairs<Shape>(carved, shapes_.data(), given_.data(), limits);
  }
  /// A kernel may access the shapes, their number, the block, and memory_.
  template <class... More>
  void run(char const* kernel, std::uint32_t count, More... more) {
    std::vector memory{ptx_test::range_of(given_), ptx_test::range_of(block_)};
    if (!shapes_.empty()) memory.push_back(ptx_test::range_of(shapes_));
    memory.insert(memory.end(), memory_.begin(), memory_.end());
    ptx::grid grid(code_, code_.find_entry(kernel), 2, 64, ptx::params_of(pairs_, more..., count), memory);
    grid.run();
  }

  ptx::module const& code_;
  std::vector<Shape> const& shapes_;
  std::vector<std::uint32_t> given_;
  std::vector<std::byte> block_;
  std::vector<ptx::memory_range> memory_;
  bin_pairs<Shape> pairs_;
};

template <class Shape>
void compare(char const* test, kernel_names const& names) {
  auto const code = ptx::read_module_file(RONDO_BIN_KERNELS);
  for (auto const& s : bin_scenes::all_scenes<Shape>(rondo_test::seed_of(test), 1920, 1080, 300)) {
    INFO(s.name);
    auto const given = static_cast<std::uint32_t>(s.shapes.size());
    auto const expected = render_bench::expected_bins(s.shapes, s.limits);
    CHECK((expected.first_unbinned == given) == s.finds_room);
    CHECK(executed_steps<Shape>(*code, s.shapes, given, s.limits).sort(names) == expected);
  }
}

}  // namespace

TEST_CASE("the steps of sorting lines into bins, executed, make the bins of the portable sort",
          "[ptx][bins]") {
  compare<rondo::pixels::segment>("bins of lines",
                                  {"count_lines", "write_lines", "find_lines", "touch_lines"});
}
TEST_CASE("the steps of sorting boxes into bins, executed, make the bins of the portable sort",
          "[ptx][bins]") {
  compare<rondo::pixels::box_shape>("bins of boxes",
                                    {"count_boxes", "write_boxes", "find_boxes", "touch_boxes"});
}

TEST_CASE("a number of shapes beyond what bins are for is not believed", "[ptx][bins]") {
  auto const code = ptx::read_module_file(RONDO_BIN_KERNELS);
  std::vector<rondo::pixels::segment> lines;
  for (int n = 0; n < 4; ++n) bin_scenes::add(lines, 100, 100, 200, 150, 3);
  bin_limits const limits{4, 640, 360};
  CHECK(executed_steps(*code, lines, 4'000'000'000, limits)
            .sort({"count_lines", "write_lines", "find_lines", "touch_lines"}) ==
        render_bench::expected_bins(lines, limits));
}

}  // namespace bins_test
