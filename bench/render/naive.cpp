// The same shapes without tiles: each block of pixels tests every shape. So one sees what bins are worth.
#include <thread>

#include "actors/video/pixels/clones.hpp"
#include "actors/video/stages/draw_edges.hpp"
#include "bench/render/scene.hpp"
#include "bench/streams/work.hpp"
#include "kernels/base/clock.hpp"

using namespace rondo;
using namespace rondo::video;

namespace render_bench {

namespace {

constexpr pixels::i32 columns = 16;

/// Rows [first, last), which are even.
RONDO_CLONES void draw_rows(pixels::drawn_planes const& to, pixels::segment const* all, std::size_t count,
                            pixels::stroke_style const& how, pixels::i32 first, pixels::i32 last) {
  for (pixels::i32 y = first; y < last; y += 2)
    for (pixels::i32 x = 0; x < to.width; x += columns) {
      pixels::block<columns> drawn;
      pixels::clear<columns>(drawn);
      for (std::size_t n = count; n-- > 0;) {
        pixels::block_coverage<columns> covered{};
        pixels::cover<columns>(covered, all[n], how, static_cast<float>(x), static_cast<float>(y));
        pixels::blend<columns>(drawn, covered, how.colour);
      }
      pixels::show<columns>(drawn, to, x, y);
    }
}

}  // namespace

outcome draw_naively(scene const& s, std::uint32_t threads, std::uint32_t frames) {
  image const about{s.width, s.height};
  std::vector<std::byte> bytes(about.bytes() + 64);
  auto const p =
      planes_at(about, bytes.data() + (64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64) % 64);
  pixels::drawn_planes const to{p.of[0].data,   p.of[1].data, p.of[2].data, p.of[0].stride,
                                p.of[1].stride, s.width,      s.height};
  pixels::stroke_style const how{{235, 128, 128, s.opacity}, s.stroke_px / 2, 1, pixels::end_round, 0};
  std::vector<pixels::segment> all;
  for (auto const& e : s.all_edges())
    all.push_back(pixels::segment_between(e.x0, e.y0, e.x1, e.y1, pixels::reach_of(how), 0));
  outcome o;
  auto const cpu = streams_bench::cpu_now();
  for (std::uint32_t frame = 0; frame < frames; ++frame) {
    auto const begun = now_ns();
    std::vector<std::thread> workers;
    for (std::uint32_t t = 0; t < threads; ++t) {
      auto const row = [&](std::uint32_t n) {
        return static_cast<pixels::i32>(static_cast<std::uint32_t>(s.height) * n / threads / 2 * 2);
      };
      workers.emplace_back([&, first = row(t), last = row(t + 1)] {
        draw_rows(to, all.data(), all.size(), how, first, last);
      });
    }
    for (auto& w : workers) w.join();
    o.ms.push_back(static_cast<double>(now_ns() - begun) * 1e-6);
  }
  o.cpu_ms = (streams_bench::cpu_now() - cpu) * 1e3 / frames;
  return o;
}

}  // namespace render_bench
