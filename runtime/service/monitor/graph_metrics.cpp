#include "runtime/service/monitor/graph_metrics.hpp"

#include <set>
#include <tuple>
#include <vector>

namespace rondo::service {

namespace {

/// The nearest number, unlike a product with 1e-9.
double seconds(std::uint64_t ns) noexcept { return static_cast<double>(ns) / 1e9; }

/// One series: a stage.
struct stage_line {
  std::string_view graph;
  reports::stageT const* stage;
  std::string device;
};

/// Those whose counts are known.
std::vector<stage_line> stage_lines_of(report const& r) {
  std::vector<stage_line> lines;
  // No two series may have the same labels, whatever graphs and stages are called.
  std::set<std::tuple<std::string_view, std::string_view>> taken;
  for (auto const& g : r.graphs)
    for (auto const& s : g->stages)
      if (s->counted_ns != 0 && taken.emplace(g->name, s->name).second)
        lines.push_back({g->name, s.get(), std::to_string(s->device)});
  return lines;
}

void write_states(metric_text& to, report const& r) {
  to.family("rondo_graph_state", "gauge", "1 for the state that the graph is in, 0 for the others.");
  std::set<std::string_view> taken;
  for (auto const& g : r.graphs) {
    if (!taken.insert(g->name).second) continue;
    for (auto const* const state : {"running", "paused", "ended", "failed"})
      to.sample({{"graph", g->name}, {"state", state}}, g->state == state ? 1 : 0);
  }
}

void write_stages(metric_text& to, report const& r) {
  auto const lines = stage_lines_of(r);
  using stage = reports::stageT;
  auto const each = [&](char const* name, char const* type, char const* help, auto const& value) {
    to.family(name, type, help);
    for (auto const& l : lines)
      to.sample({{"graph", l.graph}, {"stage", l.stage->name}, {"type", l.stage->type}, {"device", l.device}},
                value(*l.stage));
  };
  auto const count = [&](char const* name, char const* help, std::uint64_t stage::*field) {
    each(name, "counter", help, [field](stage const& s) { return s.*field; });
  };
  count("rondo_stage_ticks_total", "Ticks processed.", &stage::processed);
  count("rondo_stage_failures_total", "Attempts to process a tick that failed.", &stage::failed);
  count("rondo_stage_skipped_total",
        "Ticks given up: after the last attempt, or by a source that was still busy.", &stage::skipped);
  count("rondo_stage_dropped_total", "Frames that the stage made and a reader with `every` had no room for.",
        &stage::dropped);
  count("rondo_stage_replaced_total",
        "Frames that a newer one replaced before a reader with `latest` took them.", &stage::replaced);
  count("rondo_stage_lost_total", "Frames lost on the way to or from another process.", &stage::lost);
  count("rondo_stage_copied_total", "Frames copied in order to edit them.", &stage::copied);
  count("rondo_stage_late_total", "Ticks finished after their deadline.", &stage::late);
  each("rondo_stage_busy_seconds_total", "counter", "Time spent on ticks, over all replicas.",
       [](stage const& s) { return seconds(s.busy_ns); });
  each("rondo_stage_longest_seconds", "gauge", "Longest time for one tick so far.",
       [](stage const& s) { return seconds(s.longest_ns); });
  each("rondo_stage_replicas", "gauge", "Instances of the stage.", [](stage const& s) { return s.replicas; });
}

void write_copies(metric_text& to, report const& r) {
  using copies = reports::stage_transferT;
  auto const each = [&](char const* name, char const* help, auto const& value) {
    to.family(name, "counter", help);
    std::set<std::tuple<std::string_view, std::string_view, std::uint32_t>> taken;
    for (auto const& g : r.graphs)
      for (auto const& t : g->transfers)
        if (taken.emplace(g->name, t->from, t->to_device).second)
          to.sample({{"graph", g->name}, {"from", t->from}, {"device", std::to_string(t->to_device)}},
                    value(*t));
  };
  each("rondo_graph_copies_total", "Frames copied to another device.",
       [](copies const& t) { return t.copies; });
  each("rondo_graph_copied_bytes_total", "Bytes of frames copied to another device.",
       [](copies const& t) { return t.copies * t.bytes; });
  each("rondo_graph_copy_seconds_total", "Time that these copies took.",
       [](copies const& t) { return seconds(t.copy_ns); });
}

}  // namespace

void write_graphs(metric_text& to, report const& r) {
  write_states(to, r);
  write_stages(to, r);
  write_copies(to, r);
}

}  // namespace rondo::service
