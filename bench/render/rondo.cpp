// A graph of stages: a source of pictures that nobody writes, so that only drawing takes time, and the stages that
// draw.
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

RONDO_STAGES(render_stages, scene_source, knn_graph, draw_lines, draw_curves, draw_boxes, callback_sink,
             edge_sink)

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
  outcome o;
  o.cpu_ms = (streams_bench::cpu_now() - cpu) * 1e3 / (warm_up + frames);
  for (std::size_t i = warm_up; i < seen.ns.size(); ++i)
    o.ms.push_back(static_cast<double>(seen.ns[i] - seen.ns[i - 1]) * 1e-6);
  return o;
}

}  // namespace render_bench
