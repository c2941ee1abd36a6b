// The memory of a stage on its device, outside its actor's state: its wiring, the frames in hand, and its counters. It
// lasts when the actor restarts with a fresh state, so a failure loses no frame.
//
// Threads: the stage's actor; the host writes it before the actor begins.
#pragma once

#include "kernels/base/address.hpp"
#include "kernels/streams/edge.hpp"
#include "kernels/streams/frame_pool.hpp"
#include "kernels/streams/host_link.hpp"
#include "kernels/streams/messages.hpp"

namespace rondo::streams {

/// An input. If its writer has replicas, there is an edge from each, and the stage takes from them in turn.
struct input_state {
  edge** edges = nullptr;   // addresses on the device
  std::uint32_t count = 0;  // 0: not connected
  std::uint32_t turn = 0;   // the next edge
  frame now{};              // in hand, if `has`
  bool has = false;
  bool is_new = false;  // the stage has not processed it
};

/// The edges to one reader, which has an edge for each of its replicas: the stage puts in turn.
struct reader_edges {
  edge** edges = nullptr;
  std::uint32_t count = 0;
  std::uint32_t turn = 0;
};

/// An output.
struct output_state {
  frame_pool* pool = nullptr;  // of the blocks that `output` and copies take
  reader_edges* readers = nullptr;
  std::uint32_t count = 0;  // of readers
  bool has = false;         // `next` was written at this tick
  // 1 + the input whose frame is in `next`, and was edited in place; 0: its use is this output's own.
  std::uint32_t edits = 0;
  frame next{};
  alignas(
      8) std::byte announced[max_about_bytes] = {};  // of its frames, by `spec`: the value of a frame_type
};

/// How far a stage is with the tick in hand, if that takes more than one handler: in a wide stage, and in one whose
/// kernels play on a GPU.
struct tick_phases {
  std::uint64_t began_ns = 0;
  std::uint32_t phase = 0;
  bool is_under_way = false;
  bool is_told = false;              // the stage has told itself to begin the phase
  bool has_kernels_playing = false;  // instead, its kernels play
};

struct stage_memory {
  input_state* inputs = nullptr;
  output_state* outputs = nullptr;
  std::uint32_t input_count = 0, output_count = 0;
  void const* options = nullptr;
  void* host = nullptr;          // of a stage that works on the host
  host_link* link = nullptr;     // likewise
  std::byte* scratch = nullptr;  // as many bytes as it has asked for
  // The deliveries of all edges of an input are the same.
  actor_id clock{};             // who is told that a tick is done, by a sink, or that the graph is to end
  std::uint32_t sink = 0;       // its number
  std::uint32_t attempts = 3;   // to process a tick
  std::uint64_t period_ns = 0;  // of the graph's clock; 0: it runs as fast as it can
  std::uint64_t step_ns =
      0;  // without a period: from a tick's time to the next one's; 0: it is when it begins
  std::uint64_t slow_ns = 0;  // a longer time for one tick is warned of; 0: never
  std::uint32_t device = 0;   // index in the runtime's list
  bool is_replica = false;
  bool takes_any = false;            // a tick as soon as one of its inputs has a frame (ports.hpp)
  bool is_sink = false;              // nobody reads its outputs
  bool has_own_ticks = false;        // of a source: see stage.hpp
  std::uint64_t own_tick_limit = 0;  // of such a source; 0: none

  // -- from here on it changes
  bool is_done = false;  // no tick will come, or the stage has ended itself
  enum class ending : std::uint8_t { none, sink, graph } tells = ending::none;  // the clock is to be told
  bool has_processed = false;
  bool waits = false;           // the stage has put the present tick off
  bool is_stopping = false;     // the graph
  std::uint32_t tried = 0;      // attempts at the present tick
  std::uint64_t own_ticks = 0;  // of a source with ticks of its own: how many there were
  // Of a source: ticks from the first up to, not with, the second one are due.
  std::uint64_t next_number = 0, due_number = 0;
  std::uint64_t due_time_ns = 0;         // of the last one of them
  tick_phases phases{};                  // of a wide stage
  atomic<std::uint32_t> tile_failure{};  // likewise: the last failure of a tile, an errc
  std::uint64_t last_time_ns = 0;        // of the tick processed before
  std::uint64_t warned_ns = 0;           // when a slow frame was last warned of
  frame_origin origin{};                 // of the present tick's frames
  stage_counts counts{};
  reply_token ender{};  // asked when the stage ends
};

}  // namespace rondo::streams
