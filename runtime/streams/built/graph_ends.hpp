// The ends of a graph's actors, noted on a thread of the runtime, for those that wait for the graph.
//
// Threads: any, with the mutex.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/streams/kinds/stage_kind.hpp"

namespace rondo::streams {

/// Where the text comes from if a stage cannot go on. It changes when the stage is replaced.
struct stage_reasons {
  stage_error (*why_failed)(void const* host) = nullptr;
  std::weak_ptr<void> host{};

  stage_reasons() = default;
  stage_reasons(stage_kind const& kind, std::shared_ptr<void> const& opened)
      : why_failed(kind.why_failed), host(opened) {}
  stage_error error() const {
    auto const opened = host.lock();
    return why_failed != nullptr && opened ? why_failed(opened.get()) : stage_error(fault::stage, "");
  }
};

struct graph_ends {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint32_t open = 0;                        // actors that have not ended
  std::vector<stage_counts> last;                // by stage
  std::set<std::string> open_names;              // of the actors that have not ended
  std::set<std::string> stopped;                 // those of them that are gone, by their own failure
  std::map<std::string, stage_reasons> reasons;  // by actor
  std::string why_failed;
  fault failed_by = fault::stage;
  std::set<std::string> told;  // what it consists of
  error_code failure{};
  bool is_broken = false;  // an actor does not end by itself any more
  bool is_over = false;    // the actors are being terminated

  /// The first failure stays; what else was lost with a device is added to its text. The caller holds the mutex.
  void fail(error_code reason, std::string const& why, fault of = fault::stage) {
    if ((is_over || failure) && reason != errc::device_lost) return;
    if (!failure) failure = reason, failed_by = of;
    if (told.insert(why).second) why_failed += (why_failed.empty() ? "" : "; ") + why;
  }
  /// The same, and the graph does not end by itself any more.
  void break_off(error_code reason, std::string const& why) {
    fail(reason, why);
    is_broken = true;
    changed.notify_all();
  }
};

}  // namespace rondo::streams
