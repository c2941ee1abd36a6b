#include "bench/gpu/targets.hpp"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <array>
#include <string_view>

namespace rondo::bench::gpu {
namespace {

using results = std::vector<result>;
constexpr auto round_trip_work = "gpu_round_trip", bare_work = "gpu_round_trip_bare";

enum class kind {
  at_most,         // the figure itself
  at_least,        // the figure itself
  at_most_beyond,  // minus the figure of the bare peer
  at_least_times,  // as a multiple of the bare peer's figure
};

/// A target for a GPU of the H200's class over PCIe.
struct target {
  char const* title;
  char const* work;
  char const* parameters;  // a substring of them
  char const* peer;        // a substring of its name
  char const* metric;
  double summary::*point;
  kind what;
  double limit;
  char const* predicted = "";  // the case of tools/ptx
  char const* bare = "";       // peer of bare_from
  char const* bare_from = bare_work;
};

constexpr auto one_small = "actors=1 payload_bytes=32";
constexpr std::array targets{
    target{"round trip, p50", round_trip_work, one_small, "rondo", "round_trip_ns", &summary::p50,
           kind::at_most, 1900, "ask"},
    target{"round trip, p99", round_trip_work, one_small, "rondo", "round_trip_ns", &summary::p99,
           kind::at_most, 3500, "ask"},
    target{"through the I/O block: p50 beyond a bare flag's", round_trip_work, one_small, "rondo",
           "round_trip_ns", &summary::p50, kind::at_most_beyond, 600, "", "flag ping-pong"},
    target{"launch and wait (empty kernel), in times of the round trip, p50", round_trip_work, one_small,
           "rondo", "round_trip_ns", &summary::p50, kind::at_least_times, 4, "",
           "launch and wait, empty kernel"},
    target{"actor to actor, pinned", "gpu_hop", "", "pinned", "hop_ns", &summary::p50, kind::at_most, 700,
           "hop"},
    target{"actor to actor, pooled", "gpu_hop", "", "pooled", "hop_ns", &summary::p50, kind::at_most, 1500,
           "hop_pooled"},
    target{"many to one mailbox", "gpu_many_to_one", "", "rondo", "messages_per_s", &summary::p50,
           kind::at_least, 100e6, "fan_in"},
    target{"all to all", "gpu_all_to_all", "", "rondo", "messages_per_s", &summary::p50, kind::at_least, 1e9},
    target{"sustained by one thread of the host", "gpu_sustained", "", "single", "messages_per_s",
           &summary::p50, kind::at_least, 10e6, "spread"},
    target{"sustained in batches", "gpu_sustained", "", "batches", "messages_per_s", &summary::p50,
           kind::at_least, 20e6, "batch"},
    target{"launch of an actor, to its first answer", "gpu_launch", "", "rondo", "launch_to_answer_ns",
           &summary::p50, kind::at_most, 5000},
    target{"restart of an actor", "gpu_restart", "", "rondo", "restart_ns", &summary::p50, kind::at_most,
           5000},
    target{"first answer after 1 s idle", "gpu_first_answer", "", "rondo", "first_answer_ns", &summary::p50,
           kind::at_most, 10'000},
    target{"cudaMalloc and cudaFree, in times of acquire and release", "gpu_acquire", "", "rondo",
           "acquire_release_ns", &summary::p50, kind::at_least_times, 20, "", "cudaMalloc", "gpu_acquire"},
    target{"cudaMallocAsync and cudaFreeAsync, in times of acquire and release", "gpu_acquire", "", "rondo",
           "acquire_release_ns", &summary::p50, kind::at_least_times, 1, "", "cudaMallocAsync",
           "gpu_acquire"},
    target{"cudaMemcpyAsync from pinned memory, in times of a unified buffer's copy", "gpu_copy_down", "",
           "rondo", "copy_ns", &summary::p50, kind::at_least_times, 0.95, "", "cudaMemcpyAsync",
           "gpu_copy_down"},
    target{"twenty launches, in times of a graph's replay", "gpu_graph", "", "rondo", "replay_ns",
           &summary::p50, kind::at_least_times, 1, "", "single launches", "gpu_graph"},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

result const* find_bare(results const& all, std::string_view peer, std::string_view distance,
                        std::string_view work = bare_work) {
  for (auto const& r : all)
    if (r.work == work && r.peer == peer && r.distance == distance) return &r;
  return nullptr;
}

/// The best result that the target applies to; null: none was measured.
result const* best_of(results const& all, target const& wanted, std::string_view distance) {
  auto const holds = [&](result const& r) {
    return r.work == wanted.work && r.distance == distance && contains(r.parameters, wanted.parameters) &&
           contains(r.peer, wanted.peer) && r.has(wanted.metric);
  };
  return bench::best_of(all, higher_is_better(wanted.metric), holds,
                        [&](result const& r) { return r.of(wanted.metric).*wanted.point; });
}

std::string limit_of(target const& t) {
  switch (t.what) {
    case kind::at_most:
      return "at most " + human(t.metric, t.limit);
    case kind::at_least:
      return "at least " + human(t.metric, t.limit);
    case kind::at_most_beyond:
      return "at most " + human(t.metric, t.limit) + " more";
    case kind::at_least_times:
      return fmt::format("at least {:g} times", t.limit);
  }
  return {};
}

/// "1.72 us, met (rondo device, pinned; actors=1 payload_bytes=32)".
std::string cell(results const& all, target const& t, std::string_view distance) {
  if (all.empty()) return "not yet measured on a GPU";
  auto const* const best = best_of(all, t, distance);
  if (best == nullptr) return "";
  double value = best->of(t.metric).*t.point;
  if (t.what == kind::at_most_beyond || t.what == kind::at_least_times) {
    auto const* const bare = find_bare(all, t.bare, distance, t.bare_from);
    if (bare == nullptr) return "";
    double const bare_value = bare->of(t.metric).*t.point;
    value = t.what == kind::at_most_beyond ? value - bare_value : bare_value / value;
  }
  bool const is_least = t.what == kind::at_least || t.what == kind::at_least_times;
  bool const met = is_least ? value >= t.limit : value <= t.limit;
  return fmt::format("{}, {} ({}{}{})",
                     t.what == kind::at_least_times ? fmt::format("{:.1f}", value) : human(t.metric, value),
                     met ? "met" : "**missed**", best->peer, best->parameters.empty() ? "" : "; ",
                     best->parameters);
}

std::string predicted_of(predictions const& predicted, target const& t) {
  auto const found = predicted.find(t.predicted);
  if (found == predicted.end()) return "";
  double const us = t.point == &summary::p99 ? found->second.p99_us : found->second.p50_us;
  return human(t.metric, t.what == kind::at_least ? 1e6 / us : us * 1e3);
}

void write_targets(std::ostream& out, results const& all, predictions const& predicted) {
  out << "| work | to be reached | predicted | near | far |\n| --- | --- | --- | --- | --- |\n";
  for (auto const& t : targets)
    fmt::print(out, "| {} | {} | {} | {} | {} |\n", t.title, limit_of(t), predicted_of(predicted, t),
               cell(all, t, "near"), cell(all, t, "far"));
}

void write_ratios(std::ostream& out, results const& all) {
  constexpr std::array bare{"launch and wait", "launch and wait, empty kernel", "graph and wait",
                            "flag ping-pong"};
  out << "\nRound trips, and how many times as long each way of bare CUDA took (p50):\n\n"
         "| peer | work | distance | p50 | p90 | p99 | p99.9 |";
  for (auto const* peer : bare) out << ' ' << peer << " |";
  out << "\n| --- | --- | --- | --- | --- | --- | --- |";
  for (std::size_t i = 0; i < bare.size(); ++i) out << " --- |";
  out << '\n';
  for (auto const& r : all) {
    if (r.work != round_trip_work && r.work != bare_work) continue;
    summary const s = r.of(r.headline);
    fmt::print(out, "| {} | {} | {} |", r.peer, r.parameters, r.distance);
    for (double const value : {s.p50, s.p90, s.p99, s.p99_9})
      fmt::print(out, " {} |", human(r.headline, value));
    for (auto const* peer : bare) {
      auto const* const other = find_bare(all, peer, r.distance);
      out << ' ' << (other == nullptr ? "" : fmt::format("{:.2f}", other->of(r.headline).p50 / s.p50))
          << " |";
    }
    out << '\n';
  }
}

}  // namespace

void write_summary(std::ostream& out, results const& all, predictions const& predicted) {
  write_targets(out, all, predicted);
  if (!all.empty()) write_ratios(out, all);
}

}  // namespace rondo::bench::gpu
