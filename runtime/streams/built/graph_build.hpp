// A graph that runs: its actors, its memory on each device, and its transfers. Made from a plan.
//
// Threads: one at a time, except the const functions.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/streams/built/graph_memory.hpp"
#include "runtime/streams/built/stage_link.hpp"
#include "runtime/streams/built/transfer_link.hpp"
#include "runtime/streams/plan/graph_plan.hpp"
#include "runtime/streams/state/saved_graph.hpp"

namespace rondo::streams {

struct built_edge;

/// An actor of the graph: a stage, one of its replicas, or an end of a transfer.
struct stage_instance {
  std::uint32_t stage =
      no_stage;  // its number; of an end of a transfer: that of the stage that writes the frames
  std::uint32_t replica = 0;
  planned_transfer const* transfer = nullptr;  // whose end it is
  bool is_inlet = false;
  std::uint32_t device = 0;
  std::string name;
  std::shared_ptr<stage_link> link{};
  std::shared_ptr<void> host{};
  std::uint64_t scratch_bytes = 0;
  std::uint64_t frame_bytes = 0;       // of all frames that it may have written at a time
  saved_stage const* saved = nullptr;  // while the graph is made: what it goes on from
  std::uint64_t processed_before = 0;  // ticks, in earlier runs
  stage_actor actor{};
  std::vector<built_edge*> reads{}, writes{};  // its edges, in their order

  // While the memory is laid out: on the host.
  stage_memory* memory = nullptr;
  stage_memory* memory_at_device = nullptr;
};

/// One edge, for reports and for the ids of its ends.
struct built_edge {
  stage_instance* writer;
  stage_instance* reader;
  std::uint32_t output, input;  // numbers of the ports
  delivery how;
  std::uint32_t capacity;
  edge* on_host = nullptr;  // while the memory is laid out
  edge* at_device = nullptr;
};

class built_graph {
 public:
  /// Launches the actors, which are not active yet; they will go on from `saved`, or begin if it is null. Throws
  /// graph_error, also if `saved` is of another graph, and what runtime::launch throws.
  built_graph(runtime& rt, graph_plan const& plan, graph_options const& options, saved_graph const* saved);
  built_graph(built_graph const&) = delete;
  built_graph& operator=(built_graph const&) = delete;
  /// Keeps for ever what an actor uses that does not end.
  ~built_graph();
  /// Terminates the actors. False: one of them does not end, because it does not return from its handler.
  bool end();

  /// The stages and the transfers begin, and then the clock. `on_failure` gets the error that ends a transfer before
  /// its outlet has ended, on the transfer's thread; also those that `end` causes.
  void begin(std::function<void(planned_transfer const&, error_code)> on_failure);
  /// Sources make no ticks, or do again. Returns how many the clock has made, or the runtime's error.
  result<std::uint64_t> set_paused(bool paused);
  /// As graph::checkpoint. Goes on afterwards, unless it `stays_paused`. Defined in graph_checkpoint.cpp.
  std::optional<std::uint64_t> checkpoint(std::filesystem::path const& file, bool stays_paused,
                                          std::chrono::nanoseconds limit);
  actor_ref<clock> const& clock_actor() const noexcept { return clock_; }
  /// Called with each instance of a stage that is replaced, and its new host, while the stage's device stands still.
  /// Must not throw.
  using replaced_fn = std::function<void(stage_instance const&, std::shared_ptr<void> const&)>;
  /// The stage goes on as `next` between two ticks. Returns its spec. Throws graph_error, without changes. Defined in
  /// graph_upgrade.cpp.
  stage_spec replace(std::uint32_t stage, planned_stage const& next, replaced_fn const& replaced);

  std::list<stage_instance> const& instances() const noexcept { return instances_; }
  /// The stage itself, or its replicas.
  std::vector<stage_instance*> const& instances_of(std::uint32_t stage) const { return of_stages_[stage]; }
  /// What an instance has done whose actor is gone, since only the actor may read them before. Nothing if its device is
  /// lost.
  stage_counts last_counts(stage_instance const& s) const;
  std::list<built_edge> const& edges() const noexcept { return edges_; }
  struct link {
    planned_transfer const* transfer;
    std::unique_ptr<transfer_link> work;
    std::thread thread;
  };
  std::list<link> const& links() const noexcept { return links_; }

 private:
  void take_over(saved_graph const& saved);
  std::optional<saved_graph> save(std::uint64_t made, std::chrono::steady_clock::time_point limit);
  void require_idle(std::uint64_t made, std::chrono::steady_clock::time_point limit);
  std::vector<stage_instance const*> in_order_of_frames() const;
  void make_instances();
  void make_edges();
  void lay_out(std::uint32_t device, graph_memory& memory);
  void lay_out_stage(graph_memory& memory, stage_instance& s);
  void lay_out_inputs(graph_memory& memory, stage_instance& s);
  void lay_out_outputs(graph_memory& memory, stage_instance& s);
  frame_pool* lay_out_pool(graph_memory& memory, stage_instance& s, std::uint32_t output);
  void lay_out_clock(graph_memory& memory);
  void make_hosts();
  void launch();
  void write_ids();
  void connect(built_edge edge);
  /// What the stages behind an output need blocks for.
  struct holders {
    std::uint32_t held = 0;       // frames at the same time, at most
    std::uint32_t by_latest = 0;  // inputs that keep their newest frame
    std::uint32_t kept = 0;       // frames that stages keep beyond their ticks
  };
  void find_holders();
  holders find_holders(stage_instance const& s, std::uint32_t output) const;
  bool is_source(stage_instance const& s) const;
  bool is_ticked(stage_instance const& s) const;
  bool is_sink(stage_instance const& s) const;
  std::uint32_t input_count(stage_instance const& s) const;
  std::uint32_t output_count(stage_instance const& s) const;
  std::uint64_t period_ns() const noexcept;  // in which the clock makes a tick; 0: as fast as it can
  std::uint64_t step_ns() const noexcept;    // of the rate; 0: there is none

  runtime& rt_;
  graph_plan const& plan_;
  graph_options const& options_;
  std::list<stage_instance> instances_;
  std::vector<std::vector<stage_instance*>> of_stages_;
  struct transfer_ends {
    stage_instance *outlet = nullptr, *inlet = nullptr;
  };
  std::map<planned_transfer const*, transfer_ends> ends_;
  std::list<built_edge> edges_;
  std::map<std::pair<stage_instance const*, std::uint32_t>, holders> holders_;  // by output
  std::map<std::uint32_t, std::unique_ptr<graph_memory>> memories_;             // by device
  std::vector<std::pair<stage_instance const*, frame_pool*>> pools_;  // on the host, with their owners
  std::list<link> links_;
  /// What an instance of a stage that was replaced uses instead of its part of the graph's memory.
  struct replacement {
    buffer options, scratch;
    std::shared_ptr<void> host;
  };
  replacement prepare(graph_memory& memory, stage_instance const& s, planned_stage const& next,
                      stage_spec const& spec, bool keeps_scratch);
  std::map<stage_instance const*, replacement> replacements_;
  clock_memory* clock_memory_ = nullptr;  // on the host
  actor_id* clock_sources_ = nullptr;     // likewise
  actor_id* clock_actors_ = nullptr;      // likewise
  clock_memory* clock_at_device_ = nullptr;
  actor_ref<clock> clock_;
  std::uint32_t clock_device_ = 0;
  timer beats_;
  std::optional<bool> has_ended_;  // what `end` has returned
  std::uint64_t first_tick_ = 0;
};

}  // namespace rondo::streams
