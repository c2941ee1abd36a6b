// A graph of stages: connects their ports, decides where each works, makes their memory, and runs them.
//
//   streams::graph g{rt, {.rate = 60}};
//   auto const pattern = g.add<test_pattern>("pattern", {.width = 640, .height = 480});
//   auto const soft = g.add<blur>("soft", {.sigma = 2});
//   auto const screen = g.add<null_sink>("screen");
//   g.connect(pattern.out<"video">(), soft.in<"video">());
//   g.connect(soft.out<"video">(), screen.in<"video">(), {.how = streams::delivery::latest});
//   g.start();
//   g.wait();
//
// Frames stay where they are: a stage passes a reference on. Where stages work in different places, the graph inserts a
// transfer, once for all readers of an output there, and says what it costs.
//
// Threads: one at a time, except `stop`, `wait`, `pause`, `resume`, `checkpoint`, `trigger` and `counts`. Lifetime:
// within its runtime's.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/files/file_uses.hpp"
#include "runtime/os/made_here.hpp"
#include "runtime/streams/kinds/graph_error.hpp"
#include "runtime/streams/kinds/stage_kind.hpp"
#include "runtime/streams/plan/graph_options.hpp"

namespace rondo::streams {

class graph;
struct saved_graph;

/// An output of a stage in a graph.
template <frame_type T>
struct output_ref {
  // -- for the runtime
  graph const* owner;
  std::uint32_t stage, port;
};
/// An input of a stage in a graph.
template <frame_type T>
struct input_ref {
  // -- for the runtime
  graph const* owner;
  std::uint32_t stage, port;
};

/// A stage in a graph.
template <class Stage>
struct stage_ref {
  // -- for the runtime
  graph const* owner = nullptr;
  std::uint32_t number = 0;
  // -- for programs

  /// The output of this name.
  template <port_name Name>
  auto out() const {
    constexpr auto port = Stage::ports::template number_of<false, Name>();
    static_assert(port != ~0u, "the stage has no output of this name");
    return output_ref<typename Stage::ports::template port<false, Name>::frame>{owner, number, port};
  }
  /// The input of this name.
  template <port_name Name>
  auto in() const {
    constexpr auto port = Stage::ports::template number_of<true, Name>();
    static_assert(port != ~0u, "the stage has no input of this name");
    return input_ref<typename Stage::ports::template port<true, Name>::frame>{owner, number, port};
  }
};

/// An edge of a started graph, or a transfer.
struct edge_report {
  std::string from;           // "stage.port"
  std::string to;             // likewise; of a transfer, a device
  delivery how{};             // what happens if the reader is slow
  std::uint32_t device = 0;   // on which the frames lie; of a transfer: to which it copies
  bool is_transfer = false;   // it copies between devices
  std::uint64_t bytes = 0;    // of a frame
  std::string frames{};       // what they are, for people; empty: their type does not say
  std::uint64_t copies = 0;   // made by a transfer so far
  std::uint64_t copy_ns = 0;  // that they took in all
};

class graph {
 public:
  /// An empty graph. Throws std::invalid_argument for a rate that is negative or above a million, and an empty name.
  explicit graph(runtime& rt, graph_options options = {});
  /// Stops the graph. A forked child's copy does nothing.
  ~graph();
  graph(graph const&) = delete;
  graph& operator=(graph const&) = delete;

  // -- building; throws std::invalid_argument for a name that is taken or empty, for a port that is connected, and
  // after `start`

  /// A stage of this type, with its options.
  template <class Stage>
  stage_ref<Stage> add(std::string name, options_of<Stage> const& options = {},
                       stage_options const& how = {}) {
    return {this, add_untyped(kind_of<Stage>(), std::move(name), &options, how)};
  }
  /// An output may have many readers, an input has one writer.
  template <class T, class U>
  void connect(output_ref<T> const& from, input_ref<U> const& to, connection_options const& options = {}) {
    static_assert(std::is_same_v<T, U>,
                  "the frames of the output are of another type than those of the input");
    connect_untyped(from.owner, from.stage, from.port, to.owner, to.stage, to.port, options);
  }
  /// The same for stages known at run time, by numbers. Throws std::invalid_argument also if the types of frames
  /// differ.
  std::uint32_t add_untyped(stage_kind const& kind, std::string name, void const* options,
                            stage_options const& how);
  /// The same as `connect`.
  void connect_untyped(graph const* from_graph, std::uint32_t from, std::uint32_t output,
                       graph const* to_graph, std::uint32_t to, std::uint32_t input,
                       connection_options const& options);

  /// Where the stage will work, as things stand: an index in the runtime's list of devices. Throws graph_error if it
  /// can work nowhere.
  template <class Stage>
  std::uint32_t negotiated_place(stage_ref<Stage> const& stage) const {
    return place_of(stage.number);
  }
  /// The same for a stage by its number.
  std::uint32_t place_of(std::uint32_t stage) const;

  // -- running

  /// The files that its stages read and write. `goes_on`: with `start_from`.
  file_uses files(bool goes_on = false) const;
  /// Begins. Throws graph_error, which names the stage or the connection: an input that is not connected, shapes that a
  /// stage refuses, a circle, no place for a stage, a transfer although `strict`, no memory, a stage that would write a
  /// file which another one reads or writes.
  void start();
  /// The same, but goes on from a checkpoint of such a graph: with its next tick, and with the scratch memory that its
  /// stages had. Their states are fresh, as after a restart. Throws graph_error also if the checkpoint is of another
  /// graph, and std::runtime_error with the file and the reason if it cannot be read or is damaged. Returns the number
  /// of the next tick.
  std::uint64_t start_from(std::filesystem::path const& checkpoint);
  /// Waits until all stages have ended. `timed_out`; a stage's failure if it was stopped by one: the graph then stops;
  /// `handler_failed` if a stage could not go on, see stage_context::fail_graph.
  error_code wait(std::chrono::nanoseconds limit = std::chrono::hours(24 * 365));
  /// Stops the clock, lets the frames under way arrive, and ends the stages. `timed_out` if some have not ended within
  /// the limit: they are terminated, and `why_failed` names them.
  /// After the loss of a device, it also stops the runtime, which is over then (so does `wait`).
  error_code stop(std::chrono::nanoseconds limit = std::chrono::seconds(10));

  /// No ticks are made until `resume`; the frames under way arrive. The clock goes on with the next number, so none are
  /// skipped. Returns how many it has made, without those of sources with ticks of their own.
  /// `wrong_state` if the graph has not started; the runtime's error if it has ended.
  result<std::uint64_t> pause();
  /// Ends a pause. Returns as `pause`.
  result<std::uint64_t> resume();

  /// Between two ticks, writes what `start_from` needs to `file`, which is replaced as a whole: the graph pauses until
  /// the frames under way have arrived, and goes on. What `latest` inputs keep of earlier ticks is not saved. Returns
  /// the number of the next tick; nullopt if the graph has come to its end, or a source has: then nothing is written.
  /// Throws std::runtime_error with the file and the reason: the graph has not started, its frames do not arrive within
  /// the limit, the file cannot be written.
  std::optional<std::uint64_t> checkpoint(std::filesystem::path const& file,
                                          std::chrono::nanoseconds limit = std::chrono::seconds(10));

  /// Calls `trigger` of the hosts that have it: a still_sink with `on_request` writes its next picture. Does nothing
  /// before `start`, and after the end.
  void trigger();

  // -- replacing a stage while the graph runs
  //
  // Between two ticks, the stage gets other options, or becomes one of another type with the same ports. Its frames in
  // hand, its edges and its counts stay, so nothing is lost, and nothing is processed twice. It begins with a fresh
  // state and `on_start`; its scratch memory stays if its type does, and a new type begins with zeros, unless it says
  // `using upgrades = Old`. A host side is opened before the old one is closed. Its device stands still for a moment (a
  // safepoint). All of them throw graph_error, without changes: the stage has ended, its frames or ports would differ,
  // it needs more scratch memory than it keeps, the runtime's module lacks the type, no safepoint.

  /// Other options. Throws std::invalid_argument if the stage is of another type by now.
  template <class Stage>
  void replace(stage_ref<Stage> const& stage, options_of<Stage> const& options) {
    require_present(stage.owner, stage.number, kind_of<Stage>());
    replace_untyped(stage.number, kind_of<Stage>(), &options);
  }
  /// Another type.
  template <class Next, class Stage>
  stage_ref<Next> upgrade(stage_ref<Stage> const& stage, options_of<Next> const& options = {}) {
    static_assert(std::is_same_v<typename Next::ports, typename Stage::ports>,
                  "a stage that replaces another one has the same ports");
    require_present(stage.owner, stage.number, kind_of<Stage>());
    replace_untyped(stage.number, kind_of<Next>(), &options);
    return {this, stage.number};
  }
  /// The same for a stage by its number.
  void replace_untyped(std::uint32_t stage, stage_kind const& kind, void const* options);

  // -- observing

  /// What a stage has done; the sum over its replicas. After the end, and after a failure, the last counts; zeros if
  /// its device was lost.
  template <class Stage>
  stage_counts counts(stage_ref<Stage> const& stage) const {
    return counts_of(stage.number);
  }
  /// The same for a stage by its number.
  stage_counts counts_of(std::uint32_t stage) const;
  /// Bytes that a stage of a started graph has on its device: scratch memory, and room for the frames that it writes.
  /// A stage that changes frames in place writes few of its own. The sum over its replicas.
  std::uint64_t memory_of(std::uint32_t stage) const;
  /// The edges and transfers of a started graph.
  std::vector<edge_report> edges() const;
  /// One line for each stage and edge: its place, the copies, and why.
  std::string explain() const;
  /// The same as a picture: an SVG document.
  std::string svg() const;
  /// Which stage has failed first, and how; empty: none.
  std::string why_failed() const;
  /// Whether it was the stage itself that failed, or something outside the graph. fault::stage if none has failed.
  fault failed_by() const;

 private:
  void start(saved_graph const* from);
  void require_present(graph const* owner, std::uint32_t stage, stage_kind const& kind) const;

  struct impl;
  process_ptr<impl> impl_;
};

}  // namespace rondo::streams
