// The checkpoints of graphs that run: their files, which no other process may write meanwhile, and the thread that
// writes them now and then.
//
// Threads: one, except `save`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/files/file_lock.hpp"
#include "runtime/streams/graph.hpp"

namespace rondo::tools {

/// When checkpoints are written.
struct checkpoint_period {
  double seconds = 10;
  std::uint64_t ticks = 0;  // not 0: so many of the first graph's first stage, in place of seconds
};

class graph_checkpoints {
 public:
  /// `file`: of the first graph, "state.rondo"; the others have "state-2.rondo" and so on. Empty: there are none.
  explicit graph_checkpoints(std::string const& file) : file_(file) {}

  bool are_wanted() const noexcept { return !file_.empty(); }
  /// Of graph `number`, from 0.
  std::filesystem::path path_of(std::uint32_t number) const;
  /// Starts the graph, from its checkpoint if it is there: then returns the number of the next tick. Throws
  /// graph_error, also if another process has the file, or it cannot be read.
  std::optional<std::uint64_t> start(streams::graph& g, std::uint32_t number);
  /// Writes one. Returns why it was not written; the file before stays.
  std::string save(streams::graph& g, std::uint32_t number) const;

  /// A graph and its number.
  using numbered = std::pair<streams::graph*, std::uint32_t>;
  /// Writes them again and again; `say` gets why one was not written, once, on the thread that writes. Throws
  /// no_thread.
  void save_often(std::vector<numbered> graphs, checkpoint_period const& when,
                  std::function<void(std::string const&)> say);
  /// No more.
  void stop();
  /// The graphs have come to their end.
  void remove(std::uint32_t graphs) const;

 private:
  std::filesystem::path file_;
  std::list<file_lock> locks_;
  std::jthread saves_;
};

}  // namespace rondo::tools
