// The link of a stage's `host` (runtime/streams/kinds/stage_kind.hpp) to the stage, for threads of the program: they
// wake it, and may keep a frame.
#pragma once

#include "kernels/base/log_level.hpp"
#include "kernels/portable/kernel_list.hpp"
#include "kernels/streams/frame.hpp"
#include "kernels/streams/messages.hpp"

namespace rondo::streams {

/// Where a stage begins in a graph that goes on from a checkpoint; all zero in one that does not.
struct stage_beginning {
  std::uint64_t tick = 0;       // the graph's next one
  std::uint64_t processed = 0;  // ticks that this stage had processed before
};

/// Made by the graph, one for each stage; lives longer than the stage's `host`. Threads: any. Nothing here waits.
class host_link {
 public:
  /// The stage looks whether there is something to do: a source with ticks of its own is asked for the next one. Does
  /// nothing before the graph begins; then each stage looks once by itself.
  virtual void wake() noexcept = 0;
  /// The graph is paused: a source with ticks of its own makes none.
  virtual bool is_paused() const noexcept = 0;
  /// For the host of a source that reads something from its start, or a sink that would replace what it has written.
  virtual stage_beginning begins_at() const noexcept = 0;
  /// A line for runtime::on_log, as context::log makes one for a handler.
  virtual void log(log_level level, char const* line) const = 0;
  /// Ends a use that stage_context::keep has added.
  virtual void give_up(frame const& kept) noexcept = 0;

  // -- for the runtime: a tick whose kernels play on a GPU beside the device

  /// An empty list; null: no GPU plays kernels here, or the last list has failed.
  virtual kernel_list* kernels() = 0;
  /// Plays that list, and wakes the stage when it has ended.
  virtual void play() = 0;
  /// What may have come of it.
  enum class played : std::uint8_t { not_yet, whole, failed };
  /// What has come of the list.
  virtual played outcome() noexcept = 0;

 protected:
  ~host_link() = default;
};

}  // namespace rondo::streams
