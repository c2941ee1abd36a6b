// The provenance of a figure: machine, compiler, flags, commit, date. A number without it is not published.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rondo::bench {

struct provenance {
  std::string cpu;
  unsigned cores;
  std::string kernel;
  double load_1m;  ///< load average when the run began; above 0.5 other programs were running
  std::string compiler;
  std::string build_flags;
  std::string commit;  ///< when the build was configured; "-dirty" if the tree had uncommitted changes
  std::string allocator;
  std::string date;                                           ///< UTC, ISO 8601
  std::vector<std::pair<std::string, std::string>> device{};  ///< facts about the GPU, if one was used
};

/// Asks the system; never throws: an unknown fact is "unknown".
provenance describe_run();

}  // namespace rondo::bench
