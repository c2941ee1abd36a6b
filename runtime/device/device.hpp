// The interface of a device: what hosts a ring kernel. The rest of the runtime does not know CPUs, CUDA or Metal.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/actor/launch.hpp"
#include "kernels/link/host_record.hpp"
#include "kernels/mail/arena.hpp"
#include "kernels/mail/snapshot.hpp"
#include "runtime/base/device_report.hpp"
#include "runtime/graph/graph.hpp"
#include "runtime/memory/buffer_home.hpp"
#include "runtime/messaging/route.hpp"

namespace rondo {

struct program;

/// Gets every record of a device, from the device's own threads, several at once. Must not block for long.
using record_sink = std::function<void(host_record const&)>;

/// What is done to an arena at a safepoint: a copy of it that was only looked at need not be put back.
enum class arena_access { reads, writes };

/// A device with one ring kernel and its arena.
///
/// Threads: `mail`, `signal`, `launch` and the snapshots from any thread between start and stop.
class device {
 public:
  virtual ~device() = default;

  virtual device_info info() const = 0;
  virtual arena_shape const& shape() const = 0;

  /// Where the buffers are that its handlers lease; null: in the host's memory.
  virtual buffer_home* home() noexcept { return nullptr; }
  /// For work beside the ring kernel, on the same memory. Outlives the device's end, not the device.
  virtual graph_engine& graphs() noexcept = 0;

  /// Starts the ring kernel. `host_buffers` and `player`, which may be null, are for a device whose teams are threads of the
  /// host and share its memory. Throws std::runtime_error naming what was tried.
  virtual void start(record_sink sink, buffer_table_ref host_buffers, graph_player* player = nullptr) = 0;
  /// Sets the stop word and waits at most `limit`. Messages that wait stay in the arena. Idempotent.
  virtual stop_report stop(std::chrono::nanoseconds limit) = 0;

  /// The way to its actors' mailboxes: near when they lie in this process's memory.
  virtual route mail() noexcept = 0;
  virtual errc signal(actor_id to, std::uint32_t control) = 0;
  /// Ordered before every later post of the same thread.
  /// The device chooses spec.team for a pinned actor; actor_limit when no team is left for it.
  virtual errc launch(launch_spec spec) = 0;

  /// A team for a thread of the caller's; null when there is none left, or the device's teams are not threads of this
  /// process.
  virtual std::unique_ptr<guest> make_guest() { return nullptr; }

  /// Whether the device faulted: what was pending has ended with device_lost, or is about to.
  virtual bool lost() const noexcept { return false; }
  /// What is known of a fault, for people; empty while the device is well.
  virtual std::string why_lost() const { return {}; }

  /// Counters of the actors in the first `count` cells.
  virtual void read_actors(std::uint32_t count, std::vector<actor_snapshot>& out) = 0;
  virtual void read_teams(std::vector<team_snapshot>& out) = 0;
  /// Of a device that has a queue pair.
  virtual std::optional<queue_counts> read_queues() const noexcept { return std::nullopt; }

  /// Calls `use` with the arena, or with a copy of it, while no handler runs: every team has ended its slice, and the sink
  /// has returned from every record. Senders may go on. False when a handler did not end within `limit`, or the device is lost; `use` was not called then, and all
  /// goes on as before.
  virtual bool at_safepoint(std::chrono::nanoseconds limit, arena_access access,
                            std::function<void(arena_ref const&)> const& use) = 0;
  /// The same with arena_access::writes, and the teams go on with the code of another module; `heap_end` as in
  /// launch_spec. Throws std::runtime_error, before anything has changed, when this device cannot run that module.
  virtual bool upgrade(std::chrono::nanoseconds limit, program const& next, std::uint64_t heap_end,
                       std::function<void(arena_ref const&)> const& use) = 0;
};

}  // namespace rondo
