#include "bench/harness/harness.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <random>

#include "bench/harness/isolate.hpp"
#include "bench/harness/result_line.hpp"

namespace rondo::bench {
namespace {

struct options {
  std::vector<std::string> cases, peers;
  unsigned rounds = 8;
  double seconds = 0.25;
  unsigned seed = std::random_device{}();
  std::vector<int> cpus;
  std::string json;
  bool list = false;
};

/// A case and everything found about it so far, by distance.
struct entry {
  bench_case work;
  std::array<collected, 2> found{};
  unsigned mixed = 0;

  collected& at(distance d) { return found[static_cast<std::size_t>(d)]; }
  collected const& at(distance d) const { return found[static_cast<std::size_t>(d)]; }
};

constexpr unsigned attempts_per_sample = 4;

bool matches(std::vector<std::string> const& wanted, std::string const& text) {
  auto const inside = [&](std::string const& part) { return text.find(part) != std::string::npos; };
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), inside);
}

std::string describe(bench_case const& work) {
  std::string text = work.name;
  for (auto const& [key, value] : work.parameters) text += fmt::format(" {}={}", key, value);
  return text;
}

/// Anchors of a selected work run even when only other peers were asked for: ratios need them in the same
/// run.
std::vector<entry> select(case_list cases, options const& chosen) {
  std::vector<entry> selected;
  for (auto& work : cases)
    if (matches(chosen.cases, work.name) && (work.anchor || matches(chosen.peers, work.peer)))
      selected.push_back({std::move(work)});
  return selected;
}

void take_sample(entry& one, sample_budget const& budget) {
  for (unsigned attempt = 0; attempt < attempts_per_sample; ++attempt) {
    double const before_ns = cache_line_round_trip_ns(budget.cpus);
    measurement const sample = run_isolated(one.work, budget);
    double const after_ns = cache_line_round_trip_ns(budget.cpus);
    if (classify(before_ns) != classify(after_ns)) {
      ++one.mixed;
      continue;
    }
    distance const where = classify(before_ns);
    auto& found = one.at(where);
    found.pooled.append(sample);
    found.probe_ns.insert(found.probe_ns.end(), {before_ns, after_ns});
    ++found.samples;
    metric const& headline = sample.metrics.front();
    fmt::print("{:<52} {:<28} {:<4} {:>14.6g} {}\n", describe(one.work), one.work.peer, to_string(where),
               summarise(headline.values).p50, headline.name);
    std::fflush(stdout);
    return;
  }
  fmt::print("{:<52} {:<28} gave up: the distance changed {} times\n", describe(one.work), one.work.peer,
             attempts_per_sample);
}

double headline_median(collected const& found) { return summarise(found.pooled.metrics.front().values).p50; }

void write_results(std::vector<entry> const& entries, provenance const& from, std::ostream& out) {
  for (auto const& one : entries)
    for (distance const where : {distance::near, distance::far}) {
      collected const& found = one.at(where);
      if (found.samples == 0) continue;
      auto const anchor = std::find_if(entries.begin(), entries.end(), [&](entry const& other) {
        return other.work.anchor && describe(other.work) == describe(one.work) && other.at(where).samples > 0;
      });
      bool const anchored = anchor != entries.end();
      double const ratio = anchored ? headline_median(found) / headline_median(anchor->at(where)) : 0;
      out << result_line(one.work, where, found, one.mixed, ratio, anchored ? anchor->work.peer : "", from)
          << '\n';
    }
}

void run_rounds(std::vector<entry>& entries, options const& chosen) {
  cpu_pair const cpus = chosen.cpus.empty() ? first_two_cpus() : cpu_pair{chosen.cpus[0], chosen.cpus[1]};
  auto const time =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(chosen.seconds));
  sample_budget const budget{time, cpus};
  fmt::print("seed {}, processors {} and {}, {} cases, {} rounds of {} s\n", chosen.seed, cpus[0], cpus[1],
             entries.size(), chosen.rounds, chosen.seconds);
  std::mt19937 random(chosen.seed);
  for (unsigned round = 1; round <= chosen.rounds; ++round) {
    fmt::print("round {} of {}\n", round, chosen.rounds);
    std::shuffle(entries.begin(), entries.end(), random);
    for (auto& one : entries) take_sample(one, budget);
  }
  // The file keeps the order of the program, not of the last shuffle.
  std::sort(entries.begin(), entries.end(), [](entry const& a, entry const& b) {
    return std::pair(describe(a.work), a.work.peer) < std::pair(describe(b.work), b.work.peer);
  });
}

}  // namespace

int bench_main(int argc, char** argv, case_list cases) {
  options chosen;
  CLI::App app{"Measures Rondo and its peers doing the same work"};
  app.add_option("--case", chosen.cases, "only works whose name contains this");
  app.add_option("--peer", chosen.peers, "only peers whose name contains this, and the anchors");
  app.add_option("--rounds", chosen.rounds, "samples per case")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seconds", chosen.seconds, "timed region of a sample")
      ->check(CLI::Range(0.01, 0.4))
      ->capture_default_str();
  app.add_option("--seed", chosen.seed, "order of the cases");
  app.add_option("--cpus", chosen.cpus, "the two processors to use (default: the first two allowed)")
      ->expected(2);
  app.add_option("--json", chosen.json, "append the results to this file (default: standard output)");
  app.add_flag("--list", chosen.list, "name the selected cases and stop");
  CLI11_PARSE(app, argc, argv);

  auto entries = select(std::move(cases), chosen);
  if (entries.empty()) {
    fmt::print(stderr, "no case matches --case and --peer; --list without them names all\n");
    return 1;
  }
  if (chosen.list) {
    for (auto const& one : entries) fmt::print("{:<52} {}\n", describe(one.work), one.work.peer);
    return 0;
  }
  try {
    provenance const from = describe_run();
    run_rounds(entries, chosen);
    if (chosen.json.empty()) {
      write_results(entries, from, std::cout);
      return 0;
    }
    std::ofstream file(chosen.json, std::ios::app);
    write_results(entries, from, file);
    if (!file.flush()) throw std::runtime_error("cannot write the results to " + chosen.json);
    return 0;
  } catch (std::exception const& failure) {
    fmt::print(stderr, "bench stopped, nothing was published: {}\n", failure.what());
    return 1;
  }
}

}  // namespace rondo::bench
