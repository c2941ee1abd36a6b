// One workload, once: by actors on a runtime, by plain loops, or by actors of CAF. Prints a line of JSON (tools/bench
// --workloads).
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "actors/workloads/run_flock.hpp"
#include "bench/workloads/without_rondo.hpp"
#include "tools/workloads_module/workloads_module.hpp"

namespace {

using namespace workloads_bench;
using namespace rondo::workloads;

struct task {
  std::string what, by;
  std::uint32_t threads = 2, batch = 1000;
  std::string size;
};

rondo::config settings_of(task const& t) {
  return {.device = "cpu", .teams = t.threads, .buffer_bytes_cap = std::uint64_t{4} << 30};
}

/// What one second is worth: items, their number, and the seconds.
struct outcome {
  char const* items;
  double count, seconds;
  std::string result;  // the same whoever has found it
};

outcome rank_pages(task const& t) {
  auto const graph = generate(parse_rmat(t.size));
  auto const ranks = [&] {
    if (t.by == "loop") return rank_by_loops(graph, t.threads);
    if (t.by == "caf") return rank_in_caf(graph, t.threads);
    rondo::runtime rt{rondo::use<rondo::tools::workloads_module>, settings_of(t)};
    return rank(rt, graph);
  }();
  double const links = static_cast<double>(graph.links.size()) * ranks.rounds;
  return {"links", links, ranks.seconds, fmt::format("{} rounds", ranks.rounds)};
}

outcome rank_by_vertices(task const& t) {
  auto const graph = generate(parse_rmat(t.size));
  auto settings = settings_of(t);
  make_room_for_vertices(settings, graph);
  rondo::runtime rt{rondo::use<rondo::tools::workloads_module>, settings};
  auto const ranks = rondo::workloads::rank_by_vertices(rt, graph, {.tolerance = 0, .most_rounds = 5});
  double const links = static_cast<double>(graph.links.size()) * (ranks.rounds + 1);  // the first shares, too
  return {"links", links, ranks.seconds, fmt::format("{} rounds", ranks.rounds)};
}

outcome look_for_anomalies(task const& t) {
  auto const readings = generate_readings(parse_random_readings(t.size));
  auto const found = [&] {
    if (t.by == "loop") return find_by_loops(readings, t.threads);
    if (t.by == "caf") return find_in_caf(readings, t.threads, t.batch);
    anomaly_options how;
    how.batch = t.batch;
    auto settings = settings_of(t);
    make_room(settings, readings, how);
    rondo::runtime rt{rondo::use<rondo::tools::workloads_module>, std::move(settings)};
    return find_anomalies(rt, readings, how);
  }();
  return {"readings", static_cast<double>(found.readings), found.seconds,
          fmt::format("{} alerts", found.alerts.size())};
}

outcome fly_agents(task const& t) {
  auto const agents = static_cast<std::uint32_t>(std::stoul(t.size));
  flock_options const how{.steps = 10};
  auto const flight = [&] {
    if (t.by != "rondo") return fly_plainly(scattered(agents, 1), how);
    rondo::runtime rt{rondo::use<rondo::tools::workloads_module>, settings_of(t)};
    return fly_flock(rt, scattered(agents, 1), how);
  }();
  return {"updates", static_cast<double>(agents) * how.steps, flight.seconds,
          fmt::format("{:016x}", checksum(flight.agents))};
}

}  // namespace

int main(int argc, char** argv) try {
  task t;
  CLI::App app{"Measures a workload"};
  app.add_option("what", t.what)
      ->required()
      ->check(CLI::IsMember({"pagerank", "vertices", "anomaly", "agents"}));
  app.add_option("--by", t.by)->required()->check(CLI::IsMember({"rondo", "loop", "caf"}));
  app.add_option("--size", t.size, "as --generate of `rondo run`; of agents: how many")->required();
  app.add_option("--threads", t.threads)->check(CLI::PositiveNumber);
  app.add_option("--batch", t.batch)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  auto const o = t.what == "pagerank"   ? rank_pages(t)
                 : t.what == "vertices" ? rank_by_vertices(t)
                 : t.what == "anomaly"  ? look_for_anomalies(t)
                                        : fly_agents(t);
  fmt::print(
      R"({{"what": "{}", "by": "{}", "threads": {}, "batch": {}, "size": "{}", "items": "{}", "count": {:.0f}, )"
      R"("seconds": {:.6f}, "result": "{}"}})"
      "\n",
      t.what, t.by, t.threads, t.batch, t.size, o.items, o.count, o.seconds, o.result);
} catch (std::exception const& e) {
  std::fprintf(stderr, "bench_workloads: %s\n", e.what());
  return 1;
}
