// What a bench program does with its cases: samples them in rounds of shuffled order, keeps near and far apart,
// and writes one JSON line per result.
#pragma once

#include <array>
#include <cstdio>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "bench/harness/bench_case.hpp"
#include "bench/harness/distance.hpp"
#include "bench/harness/provenance.hpp"
#include "bench/harness/result_line.hpp"

namespace CLI {
class App;
}

namespace rondo::bench {

/// What the command line says.
struct session_options {
  std::vector<std::string> cases, peers;  // parts of names; none: all
  unsigned rounds = 8;
  double seconds = 0.25;  // the timed region of a sample
  unsigned seed = std::random_device{}();
  std::vector<int> cpus;  // two; none: the first two allowed
  std::string json;       // results are appended to it; empty: standard output
  bool list = false;
};

/// Adds --case, --peer, --rounds, --seed, --cpus, --json and --list.
void add_options(CLI::App& app, session_options& chosen);

/// A case and everything found about it so far, by distance.
struct entry {
  bench_case work;
  std::array<collected, 2> found{};
  unsigned mixed = 0, taken = 0;

  collected& at(distance d) { return found[static_cast<std::size_t>(d)]; }
  collected const& at(distance d) const { return found[static_cast<std::size_t>(d)]; }
};

/// The name of a work with its parameters: "fan_in payload_bytes=64 producers=1".
std::string describe(bench_case const& work);

/// Threads: one at a time.
class session {
 public:
  /// Takes one sample. One without metrics is left out: whoever takes it has told why.
  using sampler = std::function<measurement(bench_case const&, sample_budget const&)>;

  /// Selects from `cases`. Anchors of a selected work run even when only other peers were asked for: ratios need
  /// them in the same run. `progress` gets a line per sample.
  session(case_list cases, session_options chosen, sampler take, std::FILE* progress);

  bool empty() const noexcept { return entries_.empty(); }
  /// Names the selected cases.
  void list() const;
  /// One sample: probe the distance of the two processors, take it, probe again. When the two probes disagree the
  /// sample is discarded, counted as mixed and taken again, up to the case's attempts.
  void run();
  void write(provenance const& from, std::ostream& out) const;

 private:
  void take_sample(entry& one, sample_budget const& budget);

  session_options chosen_;
  sampler take_;
  std::FILE* progress_;
  std::vector<entry> entries_;
};

}  // namespace rondo::bench
