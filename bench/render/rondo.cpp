// A graph of stages: a source of pictures that nobody writes, so that only drawing takes time, and the stages that
// draw, or put a layer over it.
#include <algorithm>
#include <cstring>

#include "actors/video/overlay/chance.hpp"
#include "actors/video/stages/compositor.hpp"
#include "actors/video/stages/draw_boxes.hpp"
#include "actors/video/stages/draw_edges.hpp"
#include "actors/video/stages/knn_graph.hpp"
#include "actors/video/stages/sinks.hpp"
#include "bench/render/scene.hpp"
#include "bench/streams/work.hpp"
#include "runtime/streams/graph.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

using namespace rondo;
using namespace rondo::video;

namespace render_bench {

/// What the source gives out with every picture.
struct lists_of_scene {
  std::vector<point> points;
  std::vector<edge> edges;
  std::vector<box> boxes;
};

template <class Item>
std::uint32_t most_of(std::vector<Item> const& all) {
  return std::max(1u, static_cast<std::uint32_t>(all.size()));
}

struct scene_source {
  using ports = streams::ports<streams::out<"video", image>, streams::out<"points", points>,
                               streams::out<"edges", edges>, streams::out<"boxes", boxes>>;
  struct options {
    std::int32_t width = 16, height = 16;
    lists_of_scene const* lists = nullptr;
  };
  static void spec(options const& o, streams::spec_of<scene_source>& s) {
    s.out<"video">({o.width, o.height});
    s.out<"points">({most_of(o.lists->points)});
    s.out<"edges">({most_of(o.lists->edges)});
    s.out<"boxes">({most_of(o.lists->boxes)});
  }
  void process(streams::stage_context<scene_source>& ctx, streams::tick const&) {
    auto const& o = ctx.options();
    static_cast<void>(ctx.output<"video">({o.width, o.height}));
    fill<"points">(ctx, o.lists->points);
    fill<"edges">(ctx, o.lists->edges);
    fill<"boxes">(ctx, o.lists->boxes);
  }

 private:
  template <streams::port_name Port, class Item>
  static void fill(streams::stage_context<scene_source>& ctx, std::vector<Item> const& all) {
    auto const out = ctx.output<Port>({most_of(all)});
    if (!out) return;
    list_view<Item> to{out.about, out.data};
    to.clear();
    for (auto const& one : all) to.add(one);
  }
};

/// When frames are ready.
struct arrivals {
  std::vector<std::uint64_t> ns;
  static void take(void* with, image const&, std::byte const*, streams::tick const&) {
    static_cast<arrivals*>(with)->ns.push_back(now_ns());
  }
};
struct edge_sink {
  using ports = streams::ports<streams::in<"edges", edges>>;
  struct options {
    arrivals* with = nullptr;
  };
  static constexpr auto where = streams::works::on_host;
  void process(streams::stage_context<edge_sink>& ctx, streams::tick const& t) {
    arrivals::take(ctx.options().with, {}, nullptr, t);
  }
};

/// Layers of which some tiles show something, all over the picture. Each block of memory is filled once.
struct filled_layer {
  using ports = streams::ports<streams::out<"video", image>>;
  struct options {
    image about{};
    float covered = 0;
  };
  static void spec(options const& o, streams::spec_of<filled_layer>& s) { s.out<"video">(o.about); }
  void process(streams::stage_context<filled_layer>& ctx, streams::tick const&) {
    auto const& o = ctx.options();
    auto const to = ctx.output<"video">(o.about);
    auto* const end = filled_ + count_;
    if (!to || std::find(filled_, end, to.data) != end) return;
    if (count_ < std::size(filled_)) filled_[count_++] = to.data;
    std::memset(to.data, 0, to.about.bytes());
    auto* const marks = to.about.is_layer() ? layer_planes_at(to.about, to.data).marks.of : nullptr;
    std::uint32_t tile = 0;
    for (std::int32_t top = 0; top < to.about.height; top += 64)
      for (std::int32_t left = 0; left < to.about.width; left += 64) {
        auto const number = tile++;
        if (part_of_one(chance(7, number)) >= o.covered) continue;
        if (marks != nullptr) marks[number] = 1;
        for (auto y = top; y < std::min(top + 64, to.about.height); ++y)
          for (auto x = left; x < std::min(left + 64, to.about.width); ++x) put(to, x, y);
      }
  }

 private:
  static void put(streams::frame_out<image> const& to, std::int32_t x, std::int32_t y) {
    if (to.about.is_layer()) {
      auto const p = layer_planes_at(to.about, to.data);
      for (auto* const plane : {p.red, p.green, p.blue, p.opacities})
        plane[y * p.stride + x] = pixels::to_half(0.5F);
    } else {
      auto const p = drawn_planes_at(to.about, to.data);
      p.y[y * p.stride + x] = p.opacities[y * p.stride + x] = 128;
      p.u[y / 2 * p.colour_stride + x / 2] = p.v[y / 2 * p.colour_stride + x / 2] = 64;
    }
  }
  std::byte* filled_[16] = {};
  std::uint32_t count_ = 0;
};

RONDO_STAGES(render_stages, filled_layer, compositor, scene_source, knn_graph, draw_lines, draw_curves,
             draw_boxes, callback_sink, edge_sink)

/// From frame to frame, after the first ones.
outcome outcome_of(arrivals const& seen, std::uint32_t warm_up, double cpu_ms) {
  outcome o;
  o.cpu_ms = cpu_ms;
  for (std::size_t i = warm_up; i < seen.ns.size(); ++i)
    o.ms.push_back(static_cast<double>(seen.ns[i] - seen.ns[i - 1]) * 1e-6);
  return o;
}

outcome draw_by_rondo(scene const& s, std::uint32_t teams, std::uint32_t frames, std::uint32_t window) {
  constexpr std::uint32_t warm_up = 20;
  lists_of_scene const lists{s.all_points(), s.all_edges(), s.all_boxes()};
  arrivals seen;
  runtime rt{use<render_stages>, {.device = "cpu", .teams = teams}};
  streams::graph g{rt, {.ticks = warm_up + frames, .window = window, .measure = false}};
  auto const from = g.add<scene_source>("from", {s.width, s.height, &lists});
  stroke_options const stroke{.width_px = s.stroke_px, .opacity = s.opacity};
  auto picture = from.out<"video">();
  auto edges_at = from.out<"edges">();
  if (s.points != 0) {
    auto const links = g.add<knn_graph>("links", {{.k = s.k}});
    g.connect(from.out<"points">(), links.in<"points">());
    edges_at = links.out<"edges">();
  }
  bool const is_drawn = s.lines + s.curves + s.boxes != 0;
  if (!is_drawn) {
    auto const to = g.add<edge_sink>("to", {&seen});
    g.connect(edges_at, to.in<"edges">());
  }
  auto const draw = [&](auto const& stage) {
    g.connect(picture, stage.template in<"video">());
    picture = stage.template out<"video">();
  };
  if (s.lines != 0 || (is_drawn && s.points != 0)) {
    auto const lines = g.add<draw_lines>("lines", {stroke});
    draw(lines);
    g.connect(edges_at, lines.in<"edges">());
  }
  if (s.curves != 0) {
    auto const curves = g.add<draw_curves>("curves", {.stroke = stroke, .samples = s.samples});
    draw(curves);
    g.connect(edges_at, curves.in<"edges">());
  }
  if (s.boxes != 0) {
    auto const drawn = g.add<draw_boxes>("boxes", {.stroke_px = s.stroke_px,
                                                   .fill_opacity = s.fill_opacity,
                                                   .opacity = s.opacity,
                                                   .roundness = s.roundness,
                                                   .fill = "#ff8000"});
    draw(drawn);
    g.connect(from.out<"boxes">(), drawn.in<"boxes">());
  }
  if (is_drawn) g.connect(picture, g.add<callback_sink>("to", {arrivals::take, &seen}).in<"video">());
  auto const cpu = streams_bench::cpu_now();
  g.start();
  if (auto const e = g.wait()) throw std::runtime_error(e.message() + ": " + g.why_failed());
  return outcome_of(seen, warm_up, (streams_bench::cpu_now() - cpu) * 1e3 / (warm_up + frames));
}

outcome composite_by_rondo(scene const& s, std::uint32_t teams, std::uint32_t frames, std::uint32_t window) {
  constexpr std::uint32_t warm_up = 20;
  lists_of_scene const lists;
  arrivals seen;
  runtime rt{use<render_stages>, {.device = "cpu", .teams = teams}};
  streams::graph g{rt, {.ticks = warm_up + frames, .window = window, .measure = false}};
  auto const from = g.add<scene_source>("from", {s.width, s.height, &lists});
  image const about{s.width, s.height, s.composite == "i420a" ? pixel_format::i420a : pixel_format::rgba_f16};
  auto const above = g.add<filled_layer>("above", {about, s.covered});
  auto const mode = s.mode == "add"       ? pixels::blend_add
                    : s.mode == "overlay" ? pixels::blend_overlay
                                          : pixels::blend_normal;
  auto const all = g.add<compositor>("all", {.mode = {mode}});
  g.connect(from.out<"video">(), all.in<"video">());
  g.connect(above.out<"video">(), all.in<"layer1">(), {.how = streams::delivery::lossless});
  g.connect(all.out<"video">(), g.add<callback_sink>("to", {arrivals::take, &seen}).in<"video">());
  auto const cpu = streams_bench::cpu_now();
  g.start();
  if (auto const e = g.wait()) throw std::runtime_error(e.message() + ": " + g.why_failed());
  return outcome_of(seen, warm_up, (streams_bench::cpu_now() - cpu) * 1e3 / (warm_up + frames));
}

}  // namespace render_bench
