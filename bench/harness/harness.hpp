// The main function of a bench program.
#pragma once

#include <functional>

#include "bench/harness/bench_case.hpp"

namespace CLI {
class App;
}

namespace rondo::bench {

/// A session (session.hpp) of samples that each run in a forked process, with the options of a session and --seconds.
/// Returns 1, with the reason on standard error, if a case computed a wrong result.
int bench_main(int argc, char** argv, case_list cases);

/// A program with options of its own, which determine its cases.
struct bench_program {
  char const* about;
  std::function<void(CLI::App&)> add_options;
  std::function<case_list()> cases;  ///< called once the options are known
  /// Facts for the provenance; called after the last sample, because a GPU that this process uses is lost to forked
  /// ones.
  std::function<std::vector<std::pair<std::string, std::string>>()> device_facts;
};
int bench_main(int argc, char** argv, bench_program const& program);

}  // namespace rondo::bench
