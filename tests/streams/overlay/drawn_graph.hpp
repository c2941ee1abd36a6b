// A graph with all that is drawn over pictures, for every device.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <vector>

#include "actors/video/stages/compositor.hpp"
#include "actors/video/stages/draw_boxes.hpp"
#include "actors/video/stages/draw_edges.hpp"
#include "actors/video/stages/draw_particles.hpp"
#include "actors/video/stages/knn_graph.hpp"
#include "actors/video/stages/layer.hpp"
#include "actors/video/stages/sinks.hpp"
#include "actors/video/stages/test_pattern.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"

namespace overlay_test {

using namespace rondo;

/// Points that go round in circles, and a box around each.
struct wanderers {
  using ports = streams::ports<streams::out<"points", video::points>, streams::out<"boxes", video::boxes>>;
  struct options {
    std::uint32_t count = 40, most = 64, width = 320, height = 240;
  };
  static void spec(options const& o, streams::spec_of<wanderers>& s) {
    s.out<"points">({o.most});
    s.out<"boxes">({o.most});
  }
  RONDO_HD void process(streams::stage_context<wanderers>& ctx, streams::tick const& t) {
    auto const& o = ctx.options();
    auto const points = ctx.output<"points">({o.most});
    auto const boxes = ctx.output<"boxes">({o.most});
    if (!points || !boxes) return;
    video::list_view<video::point> to{points.about, points.data};
    video::list_view<video::box> around{boxes.about, boxes.data};
    to.clear(), around.clear();
    for (std::uint32_t i = 0; i < o.count; ++i) {
      auto const step = static_cast<std::uint32_t>(t.number) * (i % 5 + 1);
      auto const x = static_cast<float>((i * 37 + step) % o.width),
                 y = static_cast<float>((i * 71 + step / 2) % o.height);
      to.add({i, x, y, 1, 0.5F});
      around.add({i, x - 6, y - 9, 12, 18});
    }
  }
};

#define RONDO_OVERLAY_STAGES                                                               \
  ::overlay_test::wanderers, ::rondo::video::test_pattern, ::rondo::video::knn_graph,      \
      ::rondo::video::draw_lines, ::rondo::video::draw_curves, ::rondo::video::draw_boxes, \
      ::rondo::video::draw_sparks, ::rondo::video::draw_particles, ::rondo::video::layer,  \
      ::rondo::video::compositor

using pictures = std::vector<std::vector<std::byte>>;

/// What the graph shows.
struct drawn_graph {
  std::uint64_t ticks = 20;
  std::int32_t width = 320, height = 240;
  std::uint32_t points = 40;
  bool measure = true;  // see graph_options

  /// On the runtime's last device; the pictures go to `to`, a sink for the device.
  template <class AddSink>
  void run(runtime& rt, AddSink const& add_sink) const {
    streams::graph g{rt, {.ticks = ticks, .measure = measure, .warn = [](std::string const&) {}}};
    streams::stage_options const there{.device = rt.device_count() - 1};
    auto const pattern = g.add<video::test_pattern>("pattern", {.width = width, .height = height}, there);
    auto const from = g.add<wanderers>("from",
                                       {.count = points,
                                        .width = static_cast<std::uint32_t>(width),
                                        .height = static_cast<std::uint32_t>(height)},
                                       there);
    auto const links = g.add<video::knn_graph>("links", {{.k = 4, .degree_cap = 5}}, there);
    auto const curves =
        g.add<video::draw_curves>("curves", {{.width_px = 3, .opacity = 0.5F, .colour = "#ff8000"}}, there);
    auto const lines = g.add<video::draw_lines>("lines", {{.width_px = 1, .colour = "#00c0ff"}}, there);
    auto const boxes = g.add<video::draw_boxes>(
        "boxes", {.fill_opacity = 0.3F, .colour = "#40ff40", .fill = "#ff0000"}, there);
    auto const sparks = g.add<video::draw_sparks>("sparks", {}, there);
    auto const particles = g.add<video::draw_particles>("particles", {}, there);
    // The same on layers: of floats, of 8 bits, and over the picture in some ways.
    auto const floats = g.add<video::layer>("floats", {.width = width, .height = height}, there);
    auto const glow = g.add<video::draw_lines>("glow", {{.colour = "#ff40ff", .glow_px = 9}}, there);
    auto const dust = g.add<video::draw_particles>("dust", {.seed = 9}, there);
    auto const bytes = g.add<video::layer>(
        "bytes", {.width = width, .height = height, .format = video::layer::kind::i420a}, there);
    auto const panes = g.add<video::draw_boxes>("panes", {.fill_opacity = 0.6F, .colour = "#8080ff"}, there);
    auto const all = g.add<video::compositor>(
        "all", {{{}, {}, {16, -8}}, {pixels::blend_add, pixels::blend_normal, pixels::blend_overlay}}, there);
    auto const to = add_sink(g);
    g.connect(from.template out<"points">(), links.template in<"points">());
    g.connect(pattern.template out<"video">(), curves.template in<"video">());
    g.connect(links.template out<"edges">(), curves.template in<"edges">());
    g.connect(links.template out<"edges">(), lines.template in<"edges">());
    g.connect(from.template out<"boxes">(), boxes.template in<"boxes">());
    g.connect(curves.template out<"video">(), lines.template in<"video">());
    g.connect(lines.template out<"video">(), boxes.template in<"video">());
    g.connect(boxes.template out<"video">(), sparks.template in<"video">());
    g.connect(links.template out<"edges">(), sparks.template in<"edges">());
    g.connect(sparks.template out<"video">(), particles.template in<"video">());
    g.connect(from.template out<"points">(), particles.template in<"points">());
    streams::connection_options const every_one{.how = streams::delivery::lossless};
    g.connect(floats.template out<"video">(), glow.template in<"video">());
    g.connect(links.template out<"edges">(), glow.template in<"edges">());
    g.connect(glow.template out<"video">(), dust.template in<"video">());
    g.connect(from.template out<"points">(), dust.template in<"points">());
    g.connect(bytes.template out<"video">(), panes.template in<"video">());
    g.connect(from.template out<"boxes">(), panes.template in<"boxes">());
    g.connect(particles.template out<"video">(), all.template in<"video">());
    g.connect(dust.template out<"video">(), all.template in<"layer1">(), every_one);
    g.connect(panes.template out<"video">(), all.template in<"layer2">(), every_one);
    g.connect(panes.template out<"video">(), all.template in<"layer3">(), every_one);
    g.connect(all.template out<"video">(), to);
    g.start();
    REQUIRE(!g.wait(std::chrono::seconds(240)));
    for (auto const& counts :
         {g.counts(curves), g.counts(lines), g.counts(boxes), g.counts(sparks), g.counts(particles),
          g.counts(glow), g.counts(dust), g.counts(panes), g.counts(all)}) {
      CHECK(counts.processed == ticks);
      CHECK(counts.copied == 0);
      CHECK(counts.failed == 0);
    }
  }
  /// With a sink that calls this process.
  pictures run(runtime& rt) const {
    static pictures shown;
    shown.clear();
    run(rt, [](streams::graph& g) {
      return g
          .add<video::callback_sink>(
              "to", {[](void*, video::image const& i, std::byte const* data, streams::tick const&) {
                       shown.emplace_back(data, data + i.bytes());
                     },
                     nullptr})
          .in<"video">();
    });
    return std::move(shown);
  }
};

/// How much samples differ.
struct difference {
  int most = 0;
  std::size_t differ = 0, of = 0;
};
inline difference between(pictures const& a, pictures const& b, std::int32_t width = 320,
                          std::int32_t height = 240) {
  REQUIRE(a.size() == b.size());
  video::image const about{width, height};
  difference d;
  for (std::size_t n = 0; n < a.size(); ++n) {
    auto const p = video::planes_at(about, a[n].data()), q = video::planes_at(about, b[n].data());
    for (int plane = 0; plane < 3; ++plane)
      for (std::int32_t y = 0; y < p.of[plane].height; ++y)
        for (std::int32_t x = 0; x < p.of[plane].width; ++x) {
          auto const by = std::abs(p.of[plane].at(x, y) - q.of[plane].at(x, y));
          d.most = std::max(d.most, by);
          d.differ += by != 0;
          ++d.of;
        }
  }
  return d;
}

}  // namespace overlay_test
