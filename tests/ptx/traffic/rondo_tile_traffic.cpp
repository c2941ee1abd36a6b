// How many bytes a team of a GPU moves to draw a tile, predicted: the machine executes what nvcc has made, and each
// access beyond its multiprocessor counts, by sectors of 32 bytes. A sector that is loaded stays in the L1 until the
// tile is drawn (the most that one needs is said, too); a warp's store moves each sector that it touches.
//
//   rondo_tile_traffic [TILES]
//
// draws so many tiles (default 12) of bench/render's whole frame, 3840x2160: 500 lines, then 100 boxes. Fails if more
// than 1.5 times the bytes move that must: each sector that is read or written, once.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "bench/render/scene_shapes.hpp"
#include "tests/ptx/machine/ptx_grid.hpp"
#include "tests/ptx/traffic/tile_kernels.hpp"

namespace {

using namespace rondo::video;
namespace pixels = rondo::pixels;

constexpr std::uint64_t sector_bytes = 32;
constexpr double most_times = 1.5;
constexpr std::uint32_t lanes = 32;

/// Of NVIDIA's data sheet and white paper of the H100 SXM: bytes a second of its memory, and warp instructions a second
/// of its 132 multiprocessors, each with four schedulers, at 1.98 GHz.
constexpr double memory_bytes_per_s = 3.35e12, instructions_per_s = 132 * 4 * 1.98e9;

class counter final : public ptx::observer {
 public:
  void executes(ptx::warp const&, ptx::instruction const&, std::uint32_t) override { ++instructions; }
  void accesses(ptx::warp const&, ptx::instruction const&, ptx::warp_access const& a) override {
    std::set<std::uint64_t> sectors;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      if (a.where[lane] == ptx::went::local) ++local;
      if (a.where[lane] != ptx::went::device && a.where[lane] != ptx::went::l1) continue;
      for (auto at = a.addresses[lane]; at < a.addresses[lane] + a.bytes; ++at)
        sectors.insert(at / sector_bytes);
    }
    if (a.kind == ptx::access_kind::load)
      read.insert(sectors.begin(), sectors.end());
    else
      written.insert(sectors.begin(), sectors.end()), stored += sectors.size();
  }

  std::uint64_t must_move() const { return sector_bytes * (read.size() + written.size()); }
  std::uint64_t moved() const { return sector_bytes * (read.size() + stored); }

  std::uint64_t instructions = 0, stored = 0, local = 0;
  std::set<std::uint64_t> read, written;
};

struct total {
  std::uint64_t tiles = 0, instructions = 0, moved = 0, must = 0, local = 0, most_read = 0;
};

/// A block of memory for a device, at a multiple of 256 bytes.
class block {
 public:
  explicit block(std::size_t bytes)
      : bytes_(bytes), data_(static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256))) {}
  ~block() { std::free(data_); }
  block(block const&) = delete;
  block& operator=(block const&) = delete;
  std::byte* data() const { return data_; }
  ptx::memory_range range(char const* name) const {
    auto const at = reinterpret_cast<std::uint64_t>(data_);
    return {at, at + bytes_, ptx::memory_kind::device, name};
  }

 private:
  std::size_t bytes_;
  std::byte* data_;
};

/// Bins all shapes, and draws some of the tiles that they touch. `params(tiles, n)`: those of the kernel.
template <class Shape, class Params>
total draw(ptx::module const& code, char const* kernel, std::vector<Shape> const& shapes, image const& about,
           std::uint32_t tiles, std::vector<ptx::memory_range> memory, Params const& params) {
  auto const count = static_cast<std::uint32_t>(shapes.size());
  carver measure(nullptr);
  tile_layer<Shape>(measure, count, about.width, about.height);
  block const tables(measure.used());
  carver carved(tables.data());
  tile_layer<Shape> all(carved, count, about.width, about.height);
  auto const parts = all.begin(count);
  for (std::uint32_t p = 0; p < parts; ++p)
    all.count(p, [&](std::uint32_t n, Shape* to) { *to = shapes[n]; });
  for (std::uint32_t p = 0, binned = all.join(); p < binned; ++p) all.put(p);
  memory.push_back(tables.range("tables"));
  total sum;
  for (std::uint32_t i = 0; i < tiles; ++i) {
    auto const n = static_cast<std::uint32_t>(std::uint64_t{all.touched()} * (2 * i + 1) / (2 * tiles));
    counter counts;
    ptx::grid_options options;
    options.watcher = &counts;
    options.how.drain = 256;
    ptx::grid grid(code, code.find_entry(kernel), 1, lanes, params(all, n), memory, options);
    grid.run();
    sum.instructions += counts.instructions, sum.moved += counts.moved(), sum.must += counts.must_move();
    sum.local += counts.local;
    sum.most_read = std::max(sum.most_read, sector_bytes * counts.read.size());
  }
  auto const of_all = static_cast<double>(all.touched()) / tiles;
  auto const times = static_cast<double>(sum.moved) / static_cast<double>(sum.must);
  fmt::print(
      "{}: {} tiles are touched; a tile moves {:.1f} KiB, {:.2f} times what it must, with {:.0f} warp "
      "instructions, {} accesses to local memory, and up to {:.1f} KiB in the L1\n",
      kernel, all.touched(), static_cast<double>(sum.moved) / tiles / 1024, times,
      static_cast<double>(sum.instructions) / tiles, sum.local, static_cast<double>(sum.most_read) / 1024);
  sum.tiles = all.touched();
  sum.moved = static_cast<std::uint64_t>(static_cast<double>(sum.moved) * of_all);
  sum.must = static_cast<std::uint64_t>(static_cast<double>(sum.must) * of_all);
  sum.instructions = static_cast<std::uint64_t>(static_cast<double>(sum.instructions) * of_all);
  return sum;
}

int run(std::uint32_t tiles) {
  auto const code = ptx::read_module_file(RONDO_TILE_KERNELS);
  render_bench::scene s;
  s.lines = 500, s.boxes = 100;
  image const about{s.width, s.height};
  block const frame(about.bytes()), shared(sizeof(rondo::team_shared)), style(sizeof(pixels::stroke_style));
  std::memset(frame.data(), 100, about.bytes());
  std::memset(shared.data(), 0, sizeof(rondo::team_shared));
  auto* const team = reinterpret_cast<rondo::team_shared*>(shared.data());
  auto* const styles = new (style.data()) pixels::stroke_style(render_bench::style_of(s));
  auto const to = drawn_planes_at(about, frame.data());
  std::vector const memory{frame.range("frame"), shared.range("shared"), style.range("style")};

  auto const of_lines = draw(*code, "draw_line_tile", render_bench::lines_of(s), about, tiles, memory,
                             [&](auto const& all, std::uint32_t n) {
                               return ptx::params_of(to, all, pixels::stroke_styles{styles, 1}, n, team);
                             });
  auto const of_boxes =
      draw(*code, "draw_box_tile", render_bench::boxes_of(s), about, tiles, memory,
           [&](auto const& all, std::uint32_t n) { return ptx::params_of(to, all, n, team); });
  auto const moved = static_cast<double>(of_lines.moved + of_boxes.moved),
             must = static_cast<double>(of_lines.must + of_boxes.must);
  auto const instructions = static_cast<double>(of_lines.instructions + of_boxes.instructions);
  fmt::print(
      "the frame moves {:.1f} MB, which an H100's memory does in {:.3f} ms; its {:.1f} million warp "
      "instructions "
      "take at least {:.3f} ms (predicted from counts, not measured on a GPU)\n",
      moved / 1e6, moved / memory_bytes_per_s * 1e3, instructions / 1e6,
      instructions / instructions_per_s * 1e3);
  if (moved <= most_times * must) return 0;
  fmt::print(stderr, "rondo_tile_traffic: {:.2f} times the bytes move that must; at most {} may\n",
             moved / must, most_times);
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  auto const tiles = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 12;
  if (tiles == 0 || tiles > 10'000) {
    std::fprintf(stderr, "rondo_tile_traffic: give a number of tiles, from 1 to 10000\n");
    return 2;
  }
  return run(static_cast<std::uint32_t>(tiles));
} catch (std::exception const& e) {
  std::fprintf(stderr, "rondo_tile_traffic: %s\n", e.what());
  return 1;
}
