// The graphs of stages that work on a runtime, for its observers. A graph adds a function that reports it; observers
// call all of them.
//
//   auto const all = rt.graphs().read();
//
// The runtime knows nothing else of graphs: runtime/streams/ is a library of its own. Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/base/stage_counts.hpp"

namespace rondo {

/// How a graph stands.
enum class graph_state : std::uint8_t { running, paused, ended, failed };

/// `running`, ...
constexpr char const* name_of(graph_state state) noexcept {
  constexpr char const* names[] = {"running", "paused", "ended", "failed"};
  return names[static_cast<std::uint8_t>(state)];
}

/// A stage of a graph.
struct stage_report {
  std::string name;            // in its graph
  std::string type;            // qualified
  std::uint32_t device = 0;    // index in telemetry::devices
  std::uint32_t replicas = 1;  // instances
  stage_counts counts{};       // the sum over its replicas; `ended`: how many of them have ended
  std::uint64_t counted_at_ns =
      0;  // when the counts were taken, by now_ns(); 0: never, and they mean nothing
};

/// An edge of a graph.
struct stage_edge_report {
  std::string from;      // "stage.port"
  std::string to;        // likewise
  std::string delivery;  // `lossless`, `every`, `latest`
};

/// Copies of an output's frames to another device.
struct stage_transfer_report {
  std::string from;             // "stage.port"
  std::uint32_t to_device = 0;  // index in telemetry::devices
  std::uint64_t bytes = 0;      // of a frame
  std::uint64_t copies = 0;     // so far
  std::uint64_t copy_ns = 0;    // that they took in all
};

/// A graph at one moment.
struct graph_report {
  std::string name;                          // with which the names of its actors begin
  graph_state state = graph_state::running;  // how it stands
  std::string why_failed;                    // empty: it has not
  double rate = 0;                       // ticks per second of its clock; 0: as fast as its sinks take them
  std::vector<stage_report> stages;      // each after those that it reads from
  std::vector<stage_edge_report> edges;  // in the order of their readers
  std::vector<stage_transfer_report> transfers;  // in no order
};

class graph_reports {
  struct line;

 public:
  /// Takes a tenth of a second at most, even if a stage is stuck. Called by one thread at a time.
  using source = std::function<graph_report()>;

  /// Keeps a graph reported. Its destruction waits for a call of the source that is in progress.
  class membership {
   public:
    membership() = default;
    membership(membership&&) = default;
    /// Ends the one before.
    membership& operator=(membership&& other) noexcept;
    ~membership() { end(); }

   private:
    friend graph_reports;
    explicit membership(std::shared_ptr<line> of) noexcept : line_(std::move(of)) {}
    void end() noexcept;
    std::shared_ptr<line> line_;
  };

  /// From now on `read` calls this, until the membership is destroyed.
  [[nodiscard]] membership add(source report);
  /// All graphs, in the order in which they were added; of several with one name, the newest. Waits for sources: not
  /// for a thread that serves others, and not for the runtime's own.
  std::vector<graph_report> read() const;

 private:
  struct line {
    std::mutex mutex;  // held while `report` is called
    source report;     // empty: it has ended
  };
  mutable std::mutex mutex_;                // guards the members below
  std::vector<std::shared_ptr<line>> all_;  // in the order of `add`
  std::size_t purge_at_ = 16;               // of them; then those that have ended are removed
};

}  // namespace rondo
