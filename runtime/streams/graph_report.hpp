// Reports of a running graph for observers: runtime/observe/graph_reports.hpp.
//
// Only a stage's actor may read its counts, so they are asked for. A report waits for the answers for a short time, and
// takes the last ones of a stage that is busy for longer; the next report then has its newer ones.
//
// Threads: one at a time. The graph's stages may run, and may be gone.
#pragma once

#include <condition_variable>
#include <set>

#include "runtime/observe/graph_reports.hpp"
#include "runtime/streams/built/graph_build.hpp"
#include "runtime/streams/graph.hpp"

namespace rondo::streams {

/// What only the graph itself knows.
struct graph_standing {
  graph_state state = graph_state::running;
  std::string why_failed{};
  std::vector<stage_counts> last{};    // by stage: of its instances that have ended
  std::set<std::string> open_names{};  // of the actors that have not ended
};

/// Adds what another instance of a stage has done.
void add_to(stage_counts& sum, stage_counts const& c);

class graph_reporter {
 public:
  static constexpr auto patience = std::chrono::milliseconds(100);  // with stages that do not answer

  /// All outlive it.
  graph_reporter(graph_plan const& plan, graph_options const& options, built_graph const& built)
      : plan_(plan), options_(options), built_(built) {}

  /// Asks the actors with these names for their counts, and waits for them, but not longer than `patience`.
  void ask(std::set<std::string> const& open_names);
  /// With the counts that have come.
  graph_report report(graph_standing const& standing, std::vector<edge_report> const& edges) const;

 private:
  struct answer {
    stage_counts counts{};
    std::uint64_t at_ns = 0;  // 0: none has come
    bool is_asked = false;    // and has not answered
  };
  struct answers {  // shared with the asks, which may end after this object
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::string, answer> of;  // by the actor's name
    std::size_t open = 0;              // asks that have not been answered
  };
  stage_report report_stage(std::uint32_t stage, graph_standing const& standing) const;

  graph_plan const& plan_;
  graph_options const& options_;
  built_graph const& built_;
  std::shared_ptr<answers> answers_ = std::make_shared<answers>();
};

}  // namespace rondo::streams
