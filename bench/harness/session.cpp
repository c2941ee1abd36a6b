#include "bench/harness/session.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "bench/harness/isolate.hpp"

namespace rondo::bench {
namespace {

bool matches(std::vector<std::string> const& wanted, std::string const& text, bool exact) {
  auto const inside = [&](std::string const& part) {
    return exact ? text == part : text.find(part) != std::string::npos;
  };
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), inside);
}

bool selects(session_options const& chosen, bench_case const& work) {
  return matches(chosen.cases, describe(work), chosen.exact) &&
         ((work.anchor && !chosen.exact) || matches(chosen.peers, work.peer, chosen.exact));
}

double headline_median(collected const& found) { return summarise(found.pooled.metrics.front().values).p50; }

}  // namespace

void add_options(CLI::App& app, session_options& chosen) {
  app.add_option("--case,--filter", chosen.cases, "only works whose name with its parameters contains this");
  app.add_option("--peer", chosen.peers, "only peers whose name contains this, and the anchors");
  app.add_flag("--exact", chosen.exact, "--case and --peer are whole names, and no anchors are added");
  app.add_option("--rounds", chosen.rounds, "samples per case")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", chosen.seed, "order of the cases");
  app.add_option("--cpus", chosen.cpus, "the two processors to use (default: the first two allowed)")
      ->expected(2);
  app.add_option("--json,--output", chosen.json,
                 "append the results to this file (default: standard output)");
  app.add_flag("--list", chosen.list, "name the selected cases and stop");
}

std::string describe(bench_case const& work) {
  std::string text = work.name;
  for (auto const& [key, value] : work.parameters) text += fmt::format(" {}={}", key, value);
  return text;
}

session::session(case_list cases, session_options chosen) : chosen_(std::move(chosen)) {
  for (auto& work : cases)
    if (selects(chosen_, work)) entries_.push_back({std::move(work)});
}

void session::list() const {
  for (auto const& one : entries_) fmt::print("{} | {}\n", describe(one.work), one.work.peer);
}

void session::run() {
  cpu_pair const cpus = chosen_.cpus.empty() ? first_two_cpus() : cpu_pair{chosen_.cpus[0], chosen_.cpus[1]};
  auto const time =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(chosen_.seconds));
  sample_budget const budget{time, cpus};
  fmt::print("seed {}, processors {} and {}, {} cases, {} rounds of {} s\n", chosen_.seed, cpus[0], cpus[1],
             entries_.size(), chosen_.rounds, chosen_.seconds);
  std::mt19937 random(chosen_.seed);
  for (unsigned round = 1; round <= chosen_.rounds; ++round) {
    fmt::print("round {} of {}\n", round, chosen_.rounds);
    std::shuffle(entries_.begin(), entries_.end(), random);
    for (auto& one : entries_)
      if (one.taken < one.work.most_samples) take_sample(one, budget);
  }
  // The file keeps the order of the program, not that of the last shuffle.
  std::sort(entries_.begin(), entries_.end(), [](entry const& a, entry const& b) {
    return std::pair(describe(a.work), a.work.peer) < std::pair(describe(b.work), b.work.peer);
  });
}

void session::take_sample(entry& one, sample_budget const& budget) {
  ++one.taken;
  for (unsigned attempt = 0; attempt < one.work.attempts; ++attempt) {
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
             one.work.attempts);
}

void session::write(provenance const& from, std::ostream& out) const {
  for (auto const& one : entries_)
    for (distance const where : {distance::near, distance::far}) {
      collected const& found = one.at(where);
      if (found.samples == 0) continue;
      auto const anchor = std::find_if(entries_.begin(), entries_.end(), [&](entry const& other) {
        return other.work.anchor && describe(other.work) == describe(one.work) && other.at(where).samples > 0;
      });
      bool const anchored = anchor != entries_.end();
      double const ratio = anchored ? headline_median(found) / headline_median(anchor->at(where)) : 0;
      out << result_line(one.work, where, found, one.mixed, ratio, anchored ? anchor->work.peer : "", from)
          << '\n';
    }
}

}  // namespace rondo::bench
