// Where a figure comes from: machine, compiler, flags, commit, date. A number without it is not published.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rondo::bench {

struct provenance {
  std::string cpu;
  unsigned cores;
  std::string kernel;
  double load_1m;  ///< load average when the run began; above 0.5 the machine was not ours alone
  std::string compiler;
  std::string build_flags;
  std::string commit;  ///< when the build was configured; "-dirty" when the tree differed from it
  std::string allocator;
  std::string date;                                           ///< UTC, ISO 8601
  std::vector<std::pair<std::string, std::string>> device{};  ///< facts of a GPU that did the work
};

/// Asks the system; never throws, an unknown fact is "unknown".
provenance describe_run();

}  // namespace rondo::bench
