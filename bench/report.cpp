// bench_report: turns result lines into docs/benchmarks.md and into the data files that bench/plots/*.gp draw.
#include <fmt/core.h>
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "bench/gpu_page.hpp"
#include "bench/memory_page.hpp"
#include "bench/results.hpp"

namespace rondo::bench {
namespace {

using results = std::vector<result>;
constexpr std::array distances{"near", "far"};

/// A row of the summary: one figure of a work, and Rondo's goals for it; 0: no goal.
struct row {
  char const* work;
  char const* parameters;
  char const* metric;
  char const* title;
  double goal_near = 0, goal_far = 0;
  char const* variant = "";  // a substring of the name of the variant of Rondo that has the goal
  double goal_p99 = 0;       // for a latency
  bool batched = false;      // selects peers that send in batches, or one at a time, where there are both
};

bool sends_batches(result const& r) {
  return r.peer.find("bulk") != std::string::npos || r.peer.find("batch") != std::string::npos;
}

constexpr row fan_in(char const* parameters, char const* title, bool batched) {
  return {.work = "fan_in",
          .parameters = parameters,
          .metric = "messages_per_s",
          .title = title,
          .goal_near = batched ? 100e6 : 40e6,
          .batched = batched};
}

constexpr std::array rows{
    row{"ping_pong_two_threads", "", "round_trips_per_s", "ping-pong, two threads, round trips/s", 5e6, 1.2e6,
        "pinned"},
    row{"ping_pong_two_threads", "", "round_trips_per_s", "the same, pooled", 2e6, 0.6e6, "pooled"},
    row{"ping_pong_one_team", "", "round_trips_per_s", "ping-pong, one team, round trips/s", 9e6, 9e6},
    fan_in("payload_bytes=64 producers=1", "fan-in, 1 producer, 64 bytes, messages/s", false),
    fan_in("payload_bytes=64 producers=2", "fan-in, 2 producers", false),
    fan_in("payload_bytes=64 producers=4", "fan-in, 4 producers", false),
    fan_in("payload_bytes=64 producers=1", "the same in batches, 1 producer", true),
    fan_in("payload_bytes=64 producers=2", "in batches, 2 producers", true),
    fan_in("payload_bytes=64 producers=4", "in batches, 4 producers", true),
    row{.work = "ask_hot",
        .parameters = "",
        .metric = "round_trip_ns",
        .title = "ask from outside, hot, polling, p50 / p99",
        .goal_near = 300,
        .variant = "polling",
        .goal_p99 = 1000},
    row{"ask_after_idle", "idle_ms=1", "round_trip_ns", "ask after 1 ms idle, team parked, p50 / p99", 10'000,
        10'000},
    row{"ring", "actors=1000", "hops_per_s", "ring of 1,000 actors, hops/s", 18e6, 18e6},
    row{"spawn", "actors=100000", "actors_per_s", "spawn 100,000 actors, actors/s", 2.5e6, 2.5e6},
    row{"spawn", "actors=100000", "bytes_per_actor", "bytes per spawned actor", 512, 512},
    row{"urgent_behind_backlog", "backlog=20000 work_us=1", "ordinary_handled_first",
        "urgent behind 20,000 of 1 us: ordinary ones handled first, p50 / p99", 1, 1},
    row{"metrics_cost", "work=fan_in", "ratio_to_anchor",
        "rate as shipped, of the rate with counters but no latencies", 0.9, 0.9, "as shipped"},
    row{"idle", "workers=2", "cpu_percent", "idle processor time, parked, %", 0.1, 0.1},
};

/// The columns of the summary, grouped by implementation. Each shows the best result of its group and names the peer.
struct column {
  char const* title;
  bool (*holds)(result const&);
};
bool is_caf(result const& r) { return r.peer.starts_with("caf"); }
bool is_rondo(result const& r) { return r.peer.starts_with("rondo"); }
constexpr std::array columns{
    column{"raw queues",
           [](result const& r) { return !is_caf(r) && !is_rondo(r) && r.allocator == "glibc"; }},
    column{"CAF 0.17.6", [](result const& r) { return is_caf(r) && r.allocator == "glibc"; }},
    column{"CAF, jemalloc", [](result const& r) { return is_caf(r) && r.allocator == "jemalloc"; }},
    column{"Rondo", is_rondo},
};

double figure(result const& r, row const& wanted) {
  if (std::string_view(wanted.metric) == "ratio_to_anchor") return r.is_anchor ? 0 : r.ratio_to_anchor;
  return r.of(wanted.metric).p50;
}

bool measures(result const& r, row const& wanted, std::string_view distance) {
  bool const has =
      std::string_view(wanted.metric) == "ratio_to_anchor" ? figure(r, wanted) > 0 : r.has(wanted.metric);
  return r.work == wanted.work && r.parameters == wanted.parameters && r.distance == distance &&
         sends_batches(r) == wanted.batched && has;
}

bool shows_p99(row const& wanted) {
  return std::string_view(wanted.title).find("p99") != std::string_view::npos;
}

/// The best result of a kind; null: there is none for this work.
result const* best_of(results const& all, row const& wanted, column const& who, char const* distance) {
  auto const holds = [&](result const& r) {
    return who.holds(r) && measures(r, wanted, distance) &&
           (!is_rondo(r) || r.peer.find(wanted.variant) != std::string::npos);
  };
  return best_of(all, higher_is_better(wanted.metric), holds,
                 [&](result const& r) { return figure(r, wanted); });
}

std::string cell(result const* best, row const& wanted) {
  if (best == nullptr) return "";
  std::string const metric = wanted.metric;
  std::string text = human(metric, figure(*best, wanted));
  if (shows_p99(wanted)) text += " / " + human(metric, best->of(metric).p99);
  return fmt::format("{} ({})", text, best->peer);
}

/// The goal, and whether Rondo's figure meets it.
std::string verdict(result const* rondo, row const& wanted, double goal) {
  if (goal == 0) return "";
  std::string const metric = wanted.metric;
  auto text = human(metric, goal);
  bool met = rondo != nullptr &&
             (higher_is_better(metric) ? figure(*rondo, wanted) >= goal : figure(*rondo, wanted) <= goal);
  if (wanted.goal_p99 != 0) {
    text += " / " + human(metric, wanted.goal_p99);
    met = met && rondo->of(metric).p99 <= wanted.goal_p99;
  }
  return rondo == nullptr ? text : text + (met ? ", met" : ", **missed**");
}

void write_summary(std::ostream& out, results const& all) {
  out << "| work | distance |";
  for (auto const& who : columns) out << ' ' << who.title << " |";
  out << " goal |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  for (auto const& wanted : rows)
    for (auto const* distance : distances) {
      bool const near = std::string_view(distance) == "near";
      fmt::print(out, "| {} | {} |", near ? wanted.title : "", distance);
      for (auto const& who : columns) out << ' ' << cell(best_of(all, wanted, who, distance), wanted) << " |";
      fmt::print(out, " {} |\n",
                 verdict(best_of(all, wanted, columns.back(), distance), wanted,
                         near ? wanted.goal_near : wanted.goal_far));
    }
}

std::string optional(result const& r, std::string const& metric, double scale) {
  return r.has(metric) ? human(r.of(metric).p50 * scale) : "";
}

void write_details(std::ostream& out, results const& all) {
  std::set<std::pair<std::string, std::string>> works;
  for (auto const& r : all) works.insert({r.work, r.parameters});
  for (auto const& [work, parameters] : works) {
    bool headed = false;
    for (auto const& r : all) {
      if (r.work != work || r.parameters != parameters) continue;
      if (!headed) {
        fmt::print(out, "\n### {}{}{}\n\n", words(work), parameters.empty() ? "" : ": ", parameters);
        fmt::print(out,
                   "| peer | distance | n | {}: min | p50 | p90 | p99 | p99.9 | max | of the anchor | CPU "
                   "ns/message | peak MiB |\n",
                   words(r.headline));
        out << "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
        headed = true;
      }
      summary const s = r.of(r.headline);
      fmt::print(out, "| {} | {} | {} |", r.series(), r.distance, s.samples);
      for (double value : {s.min, s.p50, s.p90, s.p99, s.p99_9, s.max})
        fmt::print(out, " {} |", human(r.headline, value));
      fmt::print(out, " {} | {} | {} |\n",
                 r.ratio_to_anchor > 0 ? fmt::format("{:.3g}", r.ratio_to_anchor) : "",
                 optional(r, "cpu_ns_per_message", 1), optional(r, "peak_rss_growth_bytes", 1.0 / (1 << 20)));
    }
  }
}

void write_provenance(std::ostream& out, results const& all, std::string const& command) {
  auto const f = all.front().fields();
  auto const machine = f["machine"].AsMap();
  double load = 0;
  std::uint64_t mixed = 0;
  std::map<std::string, std::pair<double, double>> probes;
  for (auto const& r : all) {
    load = std::max(load, r.fields()["machine"].AsMap()["load_1m"].AsDouble());
    mixed += r.fields()["samples_mixed"].AsUInt64();
    double const ns = r.fields()["probe_p50_ns"].AsDouble();
    auto& [low, high] = probes.try_emplace(r.distance, ns, ns).first->second;
    low = std::min(low, ns), high = std::max(high, ns);
  }
  fmt::print(out, "- machine: {}, {} cores, {}\n", machine["cpu"].AsString().str(),
             machine["cores"].AsUInt32(), machine["kernel"].AsString().str());
  for (auto const& [name, range] : probes)
    fmt::print(out, "- {}: a cache-line round trip of {:.0f} to {:.0f} ns\n", name, range.first,
               range.second);
  fmt::print(out, "- load average when the programs began: up to {:.2f}{}\n", load,
             load > 0.5 ? ". **Other work ran on this machine: the figures are rough**" : "");
  fmt::print(out, "- compiler: {}, flags `{}`\n- commit: {}\n- date: {}\n- command: `{}`\n",
             f["compiler"].AsString().str(), f["build_flags"].AsString().str(), f["commit"].AsString().str(),
             f["date"].AsString().str(), command);
  fmt::print(out, "- samples discarded because the distance changed under them: {}\n", mixed);
}

/// The cases that have a chart, and its kind: rates as bars, round trips as percentiles.
std::string chart_name(result const& r) {
  if (higher_is_better(r.headline)) return "throughput_" + r.work;
  return r.headline == "round_trip_ns" ? "latency_" + r.work : "";
}

/// Notes that apply to the cases of the CPU alone.
void write_cpu_part(std::ostream& out, results const& all, std::string const& command) {
  out << R"(Rondo and its peers did the same work in the same run, in shuffled order. Rates and latencies are
medians over all samples of one distance. *Near* and *far* say how long a cache line takes between the two processors; figures
of the two are never mixed. Each cell shows the best of its kind and names it. Samples: `bench/results/messaging.jsonl`.
Whole programs in Rondo and in CAF: [the same programs in both](beside_caf.md). [What each change brought](benchmarks/changes.md).

The goals were set on another machine, on which ReaderWriterQueue made 7.8 M round trips/s between two near threads,
moodycamel's queue delivered 35 M messages/s (178 M in bulk) and a parked thread woke in 5.6 to 8.6 us. Where such a peer is
slower here, compare its ratio to Rondo. CAF there was version 1.1; Debian's is older, so its figures do not compare.

)";
  write_provenance(out, all, command);
  out << '\n';
  write_summary(out, all);
}

void write_page(std::ostream& out, results const& all, std::string const& memory, std::string const& gpu,
                std::string const& command) {
  out << "# Benchmarks\n\nWritten by `tools/bench`; do not edit. ";
  write_cpu_part(out, all, command);
  write_memory_part(out, memory);
  write_gpu_part(out, gpu);
  out << gpu_part_end;
  std::set<std::string> charts;
  for (auto const& r : all) charts.insert(chart_name(r));
  charts.erase("");
  out << '\n';
  for (auto const& name : charts) fmt::print(out, "![{}](benchmarks/{}.svg)\n", words(name), name);
  out << "\n## Every figure\n\nCPU is the processor time of all threads, polling included. Peak is the "
         "resident memory a sample added.\n";
  write_details(out, all);
}

/// Renews the parts that have new figures, and leaves the rest of the page as it is.
void renew_parts(std::string const& page, std::string const& memory, std::string const& gpu) {
  std::ostringstream part;
  if (!memory.empty()) {
    write_memory_part(part, memory);
    replace_part(page, "\n## Memory\n", gpu_part_begin, part.str());
  }
  if (!gpu.empty()) {
    part.str("");
    write_gpu_part(part, gpu);
    replace_part(page, gpu_part_begin, gpu_part_end, part.str());
  }
}

/// Rows: "peer, parameters" near far; a missing figure is a question mark, which gnuplot skips.
void write_bars(std::ostream& out, results const& of_work) {
  std::map<std::string, std::map<std::string, double>> by_label;
  for (auto const& r : of_work) {
    auto const text =
        r.series() + (r.work == "fan_in" ? ", " + r.parameters.substr(r.parameters.find("producers")) : "");
    by_label[text][r.distance] = r.of(r.headline).p50;
  }
  for (auto const& [label, at] : by_label) {
    fmt::print(out, "\"{}\"", label);
    for (auto const* distance : distances)
      at.count(distance) ? fmt::print(out, " {}", at.at(distance)) : fmt::print(out, " ?");
    out << '\n';
  }
}

/// A header with the names of the series, then one row per percentile, in microseconds.
void write_percentiles(std::ostream& out, results const& of_work) {
  out << "percentile";
  for (auto const& r : of_work) fmt::print(out, " \"{}, {}\"", r.series(), r.distance);
  constexpr std::array points{std::pair{"p50", &summary::p50}, std::pair{"p90", &summary::p90},
                              std::pair{"p99", &summary::p99}, std::pair{"p99.9", &summary::p99_9},
                              std::pair{"max", &summary::max}};
  for (auto const& [name, member] : points) {
    fmt::print(out, "\n{}", name);
    for (auto const& r : of_work) fmt::print(out, " {}", r.of(r.headline).*member / 1e3);
  }
  out << '\n';
}

void write_chart_data(std::filesystem::path const& folder, results const& all) {
  std::map<std::string, results> charts;
  // Anchors also appear in the run with jemalloc, for its ratios; they do not allocate.
  for (auto const& r : all)
    if (!r.is_anchor || r.allocator == "glibc") charts[chart_name(r)].push_back(r);
  charts.erase("");
  std::filesystem::create_directories(folder);
  for (auto const& [name, of_work] : charts) {
    std::ofstream out(folder / (name + ".dat"));
    higher_is_better(of_work.front().headline) ? write_bars(out, of_work) : write_percentiles(out, of_work);
  }
}

}  // namespace
}  // namespace rondo::bench

int main(int argc, char** argv) {
  std::string input, page, charts, memory, gpu, command = "tools/bench";
  CLI::App app{"Writes the page and the chart data of bench results"};
  app.add_option("results", input,
                 "file of result lines; without it only the parts for --memory and --gpu are renewed");
  app.add_option("--page", page, "Markdown page to write")->required();
  app.add_option("--charts", charts, "folder for the chart data; without it none is written");
  app.add_option("--memory", memory, "what bench_memory wrote");
  app.add_option("--gpu", gpu, "folder of what visits with tools/gpu brought back");
  app.add_option("--command", command, "the command that made the results");
  CLI11_PARSE(app, argc, argv);
  try {
    if (input.empty()) return rondo::bench::renew_parts(page, memory, gpu), 0;
    auto const all = rondo::bench::read_results(input);
    if (all.empty()) throw std::runtime_error(input + ": holds no results");
    std::ostringstream text;  // the page changes only if all files can be read
    rondo::bench::write_page(text, all, memory, gpu, command);
    if (!(std::ofstream(page) << text.str()).flush()) throw std::runtime_error(page + ": cannot be written");
    if (!charts.empty()) rondo::bench::write_chart_data(charts, all);
  } catch (std::exception const& failure) {
    fmt::print(stderr, "bench_report: {}\n", failure.what());
    return 1;
  }
  return 0;
}
