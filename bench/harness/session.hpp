// A session of a bench program: samples its cases in rounds of shuffled order, keeps near and far apart, and writes one
// JSON line per result.
#pragma once

#include <array>
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

/// The command line.
struct session_options {
  std::vector<std::string> cases, peers;  // substrings of names; empty: all
  unsigned rounds = 8;
  double seconds = 0.25;  // the timed region of a sample
  unsigned seed = std::random_device{}();
  std::vector<int> cpus;  // two; empty: the first two allowed
  std::string json;       // results are appended to this file; empty: standard output
  bool list = false;
  bool exact = false;  // `cases` and `peers` are whole names
};

/// Adds --case, --peer, --exact, --rounds, --seed, --cpus, --json and --list.
void add_options(CLI::App& app, session_options& chosen);

/// A case and everything measured for it so far, by distance.
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
  /// Selects from `cases`. Anchors of a selected work run even if only other peers were requested, because ratios need
  /// them in the same run.
  session(case_list cases, session_options chosen);

  bool empty() const noexcept { return entries_.empty(); }
  /// The names of the selected cases.
  void list() const;
  /// Takes all samples, each in a process of its own, and prints a line per sample. Around each the distance of the two
  /// processors is probed: if the two probes disagree, the sample is discarded, counted as mixed and repeated, up to
  /// the case's attempts.
  void run();
  void write(provenance const& from, std::ostream& out) const;

 private:
  void take_sample(entry& one, sample_budget const& budget);

  session_options chosen_;
  std::vector<entry> entries_;
};

}  // namespace rondo::bench
