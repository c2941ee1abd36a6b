#include "bench/streams/placed.hpp"

#include <fmt/format.h>

#include "actors/video/video_module.hpp"
#include "bench/streams/transport_stages.hpp"
#include "runtime/core/runtime_core.hpp"
#include "runtime/device/emulated/emulated_device.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/streams/graph.hpp"
#include "runtime/streams/plan/graph_plan.hpp"

using namespace rondo;

namespace streams_bench {

namespace {

RONDO_STAGES(placed_stages, video::test_pattern, video::blur, video::waveform, video::frame_rate,
             video::null_sink, number_source, add_in_new, add_in_place, number_sink, way_by_host)

struct pixel_stages {
  using source = video::test_pattern;
  using soft = video::blur;
  using wave = video::waveform;
  using rate = video::frame_rate;
  using sink = video::null_sink;
  static soft::options soft_options(work const& w) { return {.sigma = w.sigma}; }
};
struct transport_stages {
  using source = number_source;
  using soft = add_in_new;
  using wave = add_in_place;
  using rate = add_in_place;
  using sink = number_sink;
  static streams::options_of<soft> soft_options(work const&) { return {}; }
};

/// Indices of the runtime's devices.
constexpr std::uint32_t host = 0, device = 1;

/// Where each of the five works; empty: negotiated.
struct places {
  std::optional<std::uint32_t> source, middle, sink;
};

/// Connects the five in a row, by way of the host where two of the device meet if `naive`. Runs it, and counts the
/// copies.
template <class Stages>
outcome run(runtime& rt, work const& w, places const& p, bool naive, std::uint32_t copies_needed) {
  // Not measured: the emulated device computes as fast as the host, where it stands for one that is faster.
  streams::graph g{
      rt, {.ticks = w.frames, .window = w.window, .measure = false, .warn = [](std::string const&) {}}};
  auto const source =
      g.add<typename Stages::source>("source", {.width = w.width, .height = w.height}, {.device = p.source});
  auto const soft = g.add<typename Stages::soft>("soft", Stages::soft_options(w),
                                                 {.device = p.middle, .replicas = w.replicas});
  auto const wave = g.add<typename Stages::wave>("wave", {}, {.device = p.middle});
  auto const rate = g.add<typename Stages::rate>("rate", {}, {.device = p.middle});
  auto const sink = g.add<typename Stages::sink>("sink", {}, {.device = p.sink});
  auto const connect = [&](auto const& from, auto const& to, bool both_there) {
    if (!naive || !both_there) return g.connect(from.template out<"video">(), to.template in<"video">());
    auto const way = g.add<way_by_host>(fmt::format("before {}", to.number), {&rt, device});
    g.connect(from.template out<"video">(), way.template in<"video">());
    g.connect(way.template out<"video">(), to.template in<"video">());
  };
  connect(source, soft, p.source == device);
  connect(soft, wave, true);
  connect(wave, rate, true);
  connect(rate, sink, p.sink == device);
  auto o = timed(w.frames, [&] {
    g.start();
    if (auto const e = g.wait()) throw std::runtime_error(e.message() + ": " + g.why_failed());
  });
  std::uint64_t copies = 0, copy_ns = 0;
  for (auto const& e : g.edges()) copies += e.copies, copy_ns += e.copy_ns;
  o.frames = g.counts(sink).processed;
  if (o.frames != w.frames || copies != copies_needed * w.frames)
    throw std::runtime_error(fmt::format("{} of {} frames arrived, with {} copies instead of {} each:\n{}",
                                         o.frames, w.frames, copies, copies_needed, g.explain()));
  o.copies_per_frame = copies_needed;
  if (copies != 0) o.us_per_copy = static_cast<double>(copy_ns) / 1e3 / static_cast<double>(copies);
  return o;
}

outcome run_any(runtime& rt, work const& w, places const& p, bool naive, std::uint32_t copies_needed) {
  return w.of == load::pixels ? run<pixel_stages>(rt, w, p, naive, copies_needed)
                              : run<transport_stages>(rt, w, p, naive, copies_needed);
}

}  // namespace

outcome run_placed(work const& w, manner how, ends where) {
  runtime rt{use<placed_stages>, {.device = "cpu,emulated", .teams = w.teams, .lanes = 1}};
  // What a plan assumes of a copy before it measures: 10 us and 12 GB/s, of PCI Express 3 with 16 lanes.
  streams::copy_cost const pci;
  static_cast<emulated_device&>(*rt.core().devices()[device].dev)
      .model_bus({.latency_ns = pci.latency_ns, .ns_per_byte = pci.ns_per_byte});
  bool const naive = how == manner::naive;
  places p{.source = where == ends::host ? host : device,
           .middle = std::nullopt,
           .sink = where == ends::device ? device : host};
  // With both ends on the host a negotiation without times puts all there, and a naive program does not negotiate.
  if (naive || where == ends::host) p.middle = device;
  auto const to_and_fro = naive ? 2u + (p.source == device) + (p.sink == device) : 0u;
  auto const at_ends = static_cast<std::uint32_t>(p.source == host) + (p.sink == host);
  return run_any(rt, w, p, naive, 2 * to_and_fro + at_ends);
}

outcome run_on_cpu(work const& w) {
  runtime rt{use<placed_stages>, {.device = "cpu", .teams = w.teams}};
  return run_any(rt, w, {host, host, host}, false, 0);
}

}  // namespace streams_bench

using streams_bench::placed_stages;
RONDO_EMULATED_MODULE(placed_stages)
