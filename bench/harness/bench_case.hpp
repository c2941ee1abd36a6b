// A case: one piece of work done by one peer. To add a case, write a function that returns one of these.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/cpus.hpp"
#include "bench/harness/measurement.hpp"

namespace rondo::bench {

/// The resources of one sample: `time` for its timed region (the whole sample stays below 0.5 s by default), and these
/// two processors. `run` is called in a forked process, already confined to them.
struct sample_budget {
  std::chrono::nanoseconds time;
  cpu_pair cpus;
};

/// Cases with the same name and parameters do the same work and may be compared.
struct bench_case {
  std::string name;                                             ///< the work: "fan_in"
  std::string peer;                                             ///< the implementation: "caf detached"
  std::vector<std::pair<std::string, std::string>> parameters;  ///< of the work: {"producers", "4"}
  std::function<measurement(sample_budget const&)> run;         ///< throws if a result is wrong
  bool anchor = false;             ///< the other peers of this work print their ratio to it
  std::chrono::seconds limit{30};  ///< of one sample; a sample that takes longer counts as hanging
  unsigned attempts = 4;           ///< at one sample, if the processors' distance changes during it
  unsigned most_samples = ~0u;     ///< regardless of the rounds; for samples that take long
};

using case_list = std::vector<bench_case>;

inline void append(case_list& all, case_list more) {
  for (auto& one : more) all.push_back(std::move(one));
}

}  // namespace rondo::bench
