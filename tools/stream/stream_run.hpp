// Runs the graphs of a file until they end, and shows how far they are.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/streams/file/stream_file.hpp"
#include "tools/commands/command_end.hpp"
#include "tools/commands/exit_codes.hpp"
#include "tools/stream/graph_checkpoints.hpp"

namespace rondo::tools {

/// What the command line asks for.
struct stream_arguments {
  std::string file, svg;
  std::vector<std::string> set;     // STAGE.OPTION=VALUE
  std::vector<std::string> listen;  // endpoints for `rondo top`
  std::string metrics;              // ADDRESS:PORT
  std::string device;               // empty: as the file says
  double rate = -1;                 // negative: as the file says
  std::uint64_t ticks = 0;          // 0: as the file says
  bool explain = false, explain_after = false, quiet = false;
  double budget_ms = 0;                // of a frame; not 0: the summary says whether it was kept
  std::string checkpoint;              // a file; empty: none
  double checkpoint_every = 10;        // seconds
  std::uint64_t checkpoint_ticks = 0;  // not 0: ticks of the first graph, in place of seconds
};

/// The file, with what the command line changes. Throws config_error.
streams::stream_file load(stream_arguments const& a, streams::stage_catalog const& catalog);

/// The status for what has failed; `of_stage` if it is a stage or the graph itself.
exit_code status_of(streams::fault what, exit_code of_stage) noexcept;

/// The graphs of some files, on one runtime. Threads: one.
class stream_run {
 public:
  /// Builds the graphs, but does not start them. `checkpoint`: a file; empty: none. Throws graph_error.
  stream_run(runtime& rt, std::vector<streams::stream_file> files, std::string const& checkpoint);

  /// The files that the graphs and the command read and write.
  file_uses files(stream_arguments const& a) const;
  /// What `--explain` prints: each stage with its place, and each edge.
  std::string explain() const;
  /// The first graph as a picture.
  std::string svg() const { return graphs_.front().graph->svg(); }

  /// Starts the graphs, and waits until all have ended; Ctrl-C ends them, p and Enter pauses them, SIGUSR1, or s and
  /// Enter, has pictures written (graph::trigger). A graph that fails, also one of several that cannot start, is
  /// reported at once, and does not end the others. Shows progress on a terminal. With a checkpoint, goes on from it if
  /// it is there, and writes it now and then; it is removed when the graphs have ended by themselves. `before` is
  /// called when signals are caught already, and the graphs have not started. Throws graph_error if the only one cannot
  /// start.
  /// Returns the status for what has failed first.
  exit_code run(stream_arguments const& a, std::function<void()> const& before);
  /// What each stage has done, as a table.
  std::string summary() const;
  /// The time and the memory that each stage takes for a frame, as a table, and whether all of them took `budget_ms` at
  /// most.
  std::string profile(double budget_ms) const;

 private:
  struct running_graph {
    streams::stream_file const* file;
    std::uint32_t copy;  // of the file
    std::unique_ptr<streams::graph> graph;
    bool is_open = false;  // it was started, and has not ended
  };
  struct stage_row;
  std::string name_of(running_graph const& g) const {
    return streams::options_of_copy(*g.file, g.copy, rt_).name;
  }
  std::string prefix_of(running_graph const& g, char const* after) const;
  std::vector<stage_row> rows() const;
  std::string progress() const;
  template <class F>
  void each_open(F const& f);
  void listen(command_loop& loop);
  void start_all(bool quiet);
  void stop(streams::graph& g, std::uint32_t number, command_loop& loop);
  void note_end(std::uint32_t number, error_code ec, command_loop& loop);
  void say(std::string const& text) const;
  void report(exit_code status, std::string const& why);

  runtime& rt_;
  std::vector<streams::stream_file> files_;
  graph_checkpoints checkpoints_;  // its locks last longer than the graphs
  std::vector<running_graph> graphs_;
  exit_code status_ = exit_done;
  double seconds_ = 0;  // of the run
  bool paused_ = false;
  bool shows_ = false;  // progress, on a terminal
};

}  // namespace rondo::tools
