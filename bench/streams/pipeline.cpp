// The five-stage pipeline (pattern, blur, waveform, frame rate, null sink) in one of several ways; prints one line of
// JSON.
//
//   rondo         a graph of stages on `cpu`
//   paced         the same, for a run with --rate
//   copies        five threads with queues between them; each edge copies the picture into memory allocated for it
//   loop          one thread that calls the same pixel code, without any runtime
//   bare          a graph of stages that do nothing: what the runtime itself costs
//   played        as `rondo`, but all kernels play on a GPU beside `cpu` (--player), such as pocl on the processor
//   chosen        the same, but each stage works where it was measured to be faster
//   soft          the blur alone, on `cpu`
//   soft_played   the same with its kernels on the player
//   negotiated    a graph on `emulated`, whose copies take as long as on PCI Express
//   naive         the same, where each picture goes to the host and back between two stages, with memory allocated for
//                 it
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <mutex>

#include "actors/video/video_module.hpp"
#if defined(RONDO_HAS_OPENCL)
#include "actors/video/overlay/overlay_kernels.hpp"
#include "actors/video/pixels/pixel_kernels.hpp"
#endif
#include "bench/streams/placed.hpp"
#include "bench/streams/plain.hpp"
#include "runtime/streams/graph.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

using namespace rondo;
using namespace rondo::video;
using namespace streams_bench;

namespace pipeline_bench {

/// Passes its picture on, and does nothing.
struct idle_stage {
  using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image, "video">>;
  void process(streams::stage_context<idle_stage>& ctx, streams::tick const&) { ctx.pass<"video">(); }
};
struct idle_source {
  using ports = streams::ports<streams::out<"video", image>>;
  struct options {
    std::int32_t width = 16, height = 16;
  };
  static void spec(options const& o, streams::spec_of<idle_source>& s) {
    s.out<"video">({o.width, o.height});
  }
  void process(streams::stage_context<idle_source>& ctx, streams::tick const&) {
    auto const& o = ctx.options();
    static_cast<void>(ctx.output<"video">({o.width, o.height}));
  }
};

/// When pictures arrive at the sink: how long they took from their tick.
struct arrivals {
  std::mutex mutex;
  std::vector<std::uint64_t> ns;
  static void take(void* with, image const&, std::byte const*, streams::tick const& t) {
    auto& self = *static_cast<arrivals*>(with);
    std::lock_guard const lock(self.mutex);
    self.ns.push_back(now_ns() - t.time_ns);
  }
};

RONDO_STAGES(bench_stages, test_pattern, blur, waveform, frame_rate, callback_sink, idle_source, idle_stage,
             null_sink)

outcome run_graph(work const& w, double rate, std::string const& device = "cpu", bool measure = false) {
  runtime rt{use<bench_stages>, {.device = device, .teams = w.teams}};
  arrivals seen;
  streams::graph g{rt, {.rate = rate, .ticks = w.frames, .window = w.window, .measure = measure}};
  auto const pattern = g.add<test_pattern>("pattern", {.width = w.width, .height = w.height});
  auto const soft = g.add<blur>("soft", {.sigma = w.sigma}, {.replicas = w.replicas});
  auto const wave = g.add<waveform>("wave");
  auto const shown = g.add<frame_rate>("rate");
  auto const to = g.add<callback_sink>("to", {arrivals::take, &seen});
  g.connect(pattern.out<"video">(), soft.in<"video">());
  g.connect(soft.out<"video">(), wave.in<"video">());
  g.connect(wave.out<"video">(), shown.in<"video">());
  g.connect(shown.out<"video">(), to.in<"video">());
  if (measure) static_cast<void>(g.explain());  // which is kept
  auto o = timed(w.frames, [&] {
    g.start();
    if (auto const e = g.wait()) throw std::runtime_error(e.message() + ": " + g.why_failed());
  });
  std::ranges::sort(seen.ns);
  o.frames = seen.ns.size();
  if (!seen.ns.empty()) o.p50_latency_ns = seen.ns[seen.ns.size() / 2];
  return o;
}

outcome run_soft(work const& w, std::string const& device) {
  runtime rt{use<bench_stages>, {.device = device, .teams = w.teams}};
  streams::graph g{rt, {.ticks = w.frames, .window = w.window, .measure = false}};
  auto const from = g.add<idle_source>("from", {.width = w.width, .height = w.height});
  auto const soft = g.add<blur>("soft", {.sigma = w.sigma});
  auto const to = g.add<null_sink>("to");
  g.connect(from.out<"video">(), soft.in<"video">());
  g.connect(soft.out<"video">(), to.in<"video">());
  return timed(w.frames, [&] {
    g.start();
    if (auto const e = g.wait()) throw std::runtime_error(e.message());
  });
}

outcome run_bare(work const& w) {
  runtime rt{use<bench_stages>, {.device = "cpu", .teams = w.teams}};
  streams::graph g{rt, {.ticks = w.frames, .window = w.window}};
  auto const from = g.add<idle_source>("from");
  auto const a = g.add<idle_stage>("a"), b = g.add<idle_stage>("b"), c = g.add<idle_stage>("c");
  auto const to = g.add<null_sink>("to");
  g.connect(from.out<"video">(), a.in<"video">());
  g.connect(a.out<"video">(), b.in<"video">());
  g.connect(b.out<"video">(), c.in<"video">());
  g.connect(c.out<"video">(), to.in<"video">());
  return timed(w.frames, [&] {
    g.start();
    if (auto const e = g.wait()) throw std::runtime_error(e.message());
  });
}

std::map<std::string, load> const loads{{"pixels", load::pixels}, {"transport", load::transport}};
std::map<std::string, ends> const all_ends{
    {"device", ends::device}, {"mixed", ends::mixed}, {"host", ends::host}};
template <class T>
std::string name_in(std::map<std::string, T> const& all, T value) {
  return std::ranges::find(all, value, &std::pair<std::string const, T>::second)->first;
}

void print(std::string const& way, work const& w, std::string const& where, double rate, outcome const& o) {
  auto const frames = static_cast<double>(o.frames);
  fmt::print(
      R"({{ "way": "{}", "load": "{}", "ends": "{}", "width": {}, "height": {}, "frames": {}, "teams": {}, "replicas": {}, "window": {}, )"
      R"("rate": {}, "seconds": {:.6f}, "frames_per_s": {:.2f}, "cpu_ms_per_frame": {:.4f}, "p50_latency_us": {:.1f}, )"
      R"("copies_per_frame": {}, "us_per_copy": {:.1f} }})"
      "\n",
      way, name_in(loads, w.of), where, w.width, w.height, o.frames, w.teams, w.replicas, w.window, rate,
      o.seconds, frames / o.seconds, 1e3 * o.cpu_seconds / frames,
      static_cast<double>(o.p50_latency_ns) / 1e3, o.copies_per_frame, o.us_per_copy);
}

}  // namespace pipeline_bench
using namespace pipeline_bench;
#if defined(RONDO_HAS_OPENCL)
RONDO_KERNELS(rondo::video::pixel_kernels, rondo::video::overlay_kernels)
#endif

int main(int argc, char** argv) {
  work w;
  std::string way = "rondo";
  auto where = ends::device;
  std::string player = "opencl:Portable";
  double rate = 0;
  CLI::App app{"Measures the five-stage pipeline"};
  app.add_option("--way", way,
                 "rondo, paced, copies, loop, bare, negotiated, naive, played, chosen, soft or soft_played")
      ->check(CLI::IsMember({"rondo", "paced", "copies", "loop", "bare", "negotiated", "naive", "played",
                             "chosen", "soft", "soft_played"}));
  app.add_option("--player", player, "the device of played, chosen and soft_played");
  app.add_option("--load", w.of, "pixels, or transport: the stages touch 8 bytes")
      ->transform(CLI::CheckedTransformer(loads));
  app.add_option("--ends", where, "where source and sink of negotiated and naive work: device, mixed or host")
      ->transform(CLI::CheckedTransformer(all_ends));
  app.add_option("--width", w.width);
  app.add_option("--height", w.height);
  app.add_option("--frames", w.frames)->check(CLI::PositiveNumber);
  app.add_option("--teams", w.teams);
  app.add_option("--replicas", w.replicas, "instances of the blur");
  app.add_option("--window", w.window, "ticks under way");
  app.add_option("--rate", rate, "ticks per second; 0: as fast as possible");
  CLI11_PARSE(app, argc, argv);
  bool const is_placed = way == "negotiated" || way == "naive";
  if (w.of == load::transport && !is_placed && way != "rondo" && way != "copies") {
    fmt::print(stderr, "--load transport is for --way rondo, copies, negotiated and naive, not {}\n", way);
    return 1;
  }
  try {
    auto const o = is_placed       ? run_placed(w, way == "naive" ? manner::naive : manner::negotiated, where)
                   : way == "bare" ? run_bare(w)
                   : way == "loop" ? run_loop(w)
                   : way == "copies"         ? run_copies(w)
                   : way == "played"         ? run_graph(w, rate, player)
                   : way == "chosen"         ? run_graph(w, rate, player, true)
                   : way == "soft"           ? run_soft(w, "cpu")
                   : way == "soft_played"    ? run_soft(w, player)
                   : w.of == load::transport ? run_on_cpu(w)
                                             : run_graph(w, rate);
    print(way, w, is_placed ? name_in(all_ends, where) : "", rate, o);
  } catch (std::exception const& e) {
    fmt::print(stderr, "bench_streams --way {}: {}\n", way, e.what());
    return 1;
  }
}
