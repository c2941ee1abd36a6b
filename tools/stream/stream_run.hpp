// Runs the graphs of a file until they end, and shows how far they are.
#pragma once

#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "runtime/files/file_lock.hpp"
#include "runtime/streams/file/stream_file.hpp"
#include "tools/commands/exit_codes.hpp"

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
  bool explain = false, quiet = false;
  std::string checkpoint;        // a file; empty: none
  double checkpoint_every = 10;  // seconds
};

/// The file, with what the command line changes. Throws config_error.
streams::stream_file load(stream_arguments const& a, streams::stage_catalog const& catalog);

/// The status for what has failed; `of_stage` if it is a stage or the graph itself.
exit_code status_of(streams::fault what, exit_code of_stage) noexcept;

/// How graphs have ended.
struct stream_outcome {
  exit_code status = exit_done;
  std::string why;  // empty: nothing has failed
};

/// The graphs of a file, on one runtime. Threads: one.
class stream_run {
 public:
  /// Builds the graphs, but does not start them. Throws graph_error.
  stream_run(runtime& rt, streams::stream_file const& file);

  /// The files that the graphs and the command read and write.
  file_uses files(stream_arguments const& a) const;
  /// What `--explain` prints: each stage with its place, and each edge.
  std::string explain() const;
  /// The first graph as a picture.
  std::string svg() const { return graphs_.front()->svg(); }

  /// Starts the graphs, and waits until all have ended; Ctrl-C ends them, and p and Enter pauses them. Shows progress
  /// on a terminal. With a checkpoint, goes on from it if it is there, and writes it now and then; it is removed when
  /// the graphs have ended by themselves. `before` is called when signals are caught already, and the graphs have not
  /// started. Throws graph_error if one cannot start, and std::runtime_error for a checkpoint that cannot be read.
  /// Returns what has failed first.
  stream_outcome run(stream_arguments const& a, std::function<void()> const& before);
  /// What each stage has done, as a table.
  std::string summary() const;

 private:
  struct stage_row;
  std::vector<stage_row> rows() const;
  std::string progress() const;
  std::filesystem::path checkpoint_of(std::uint32_t graph, std::string const& file) const;
  void start(stream_arguments const& a);
  void lock(std::filesystem::path const& checkpoint);

  runtime& rt_;
  streams::stream_file const& file_;
  std::list<file_lock> locks_;  // on the checkpoints of the graphs, which end before
  std::vector<std::unique_ptr<streams::graph>> graphs_;
  double seconds_ = 0;  // of the run
  bool paused_ = false;
};

}  // namespace rondo::tools
