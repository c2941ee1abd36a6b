// The interface of a device, which hosts a ring kernel. The rest of the runtime does not know CPUs, CUDA, or Metal.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/actor/launch.hpp"
#include "kernels/link/device_event.hpp"
#include "kernels/mail/arena.hpp"
#include "kernels/mail/snapshot.hpp"
#include "runtime/base/device_report.hpp"
#include "runtime/graph/graph.hpp"
#include "runtime/memory/buffer_home.hpp"
#include "runtime/messaging/route.hpp"
#include "runtime/os/own_threads.hpp"

namespace rondo {

class pack_player;  // runtime/player/pack_player.hpp

struct program;

/// Gets every event of a device, concurrently from the device's own threads. Must not block for long.
using event_sink = std::function<void(device_event const&)>;

/// The access to an arena at a safepoint: a copy that was only read need not be written back.
enum class arena_access { reads, writes };

/// A device with one ring kernel and its arena.
///
/// Threads: `mail` at any time, `signal`, `launch` and the snapshots between start and stop, from any thread.
class device {
 public:
  virtual ~device() = default;

  virtual device_info info() const = 0;
  virtual arena_shape const& shape() const = 0;

  /// The home of the buffers that its handlers lease; null: they are in host memory.
  virtual buffer_home* home() noexcept { return nullptr; }
  /// The engine for graphs, which run next to the ring kernel on the same memory. Valid after stop, until the device is
  /// destroyed.
  virtual graph_engine& captures() noexcept = 0;

  /// Starts the ring kernel. Only a device whose teams are host threads uses `host_buffers` and `player`, which may be
  /// null. Its threads that run handlers or the sink are some of `threads`, unless that is null. Throws
  /// std::runtime_error with what was tried.
  virtual void start(event_sink sink, buffer_table_ref host_buffers, graph_player* player = nullptr,
                     own_threads const* threads = nullptr) = 0;
  /// Sets the stop word and waits at most `limit`. Waiting messages stay in the arena. Idempotent.
  virtual stop_report stop(std::chrono::nanoseconds limit) = 0;

  /// The route to its actors' mailboxes; near if they are in this process's memory.
  virtual route mail() noexcept = 0;
  virtual errc signal(actor_id to, std::uint32_t control) = 0;
  /// Ordered before every later post of the same thread.
  /// The device chooses spec.team for a pinned actor; actor_limit if no team is free.
  virtual errc launch(launch_spec spec, launch_arguments const& with = {}) = 0;

  /// The arguments of number i; empty: they have none.
  using arguments_of = std::function<launch_arguments(std::size_t i)>;
  /// The same for actors that are not pinned. Returns how many were launched: fewer than all if the device has ended.
  virtual std::size_t launch_many(std::span<launch_spec const> specs, arguments_of const& with) {
    std::size_t launched = 0;
    while (launched < specs.size() &&
           launch(specs[launched], with ? with(launched) : launch_arguments{}) == errc::ok)
      ++launched;
    return launched;
  }

  /// A guest team for a program thread; null if none is free, or if the device's teams are not threads of this
  /// process.
  virtual std::unique_ptr<guest> make_guest() { return nullptr; }

  /// Where its teams may have mail of portable behaviours handled by a GPU; null: nowhere.
  virtual pack_player* packs() noexcept { return nullptr; }

  /// Whether the device faulted: everything pending completes with device_lost.
  virtual bool lost() const noexcept { return false; }
  /// The details of a fault, for human readers; empty without a fault.
  virtual std::string why_lost() const { return {}; }

  /// Counters of the actors in `count` cells from cell `first` of this device on.
  virtual void read_actors(std::uint32_t first, std::uint32_t count, std::vector<actor_snapshot>& out) = 0;
  virtual void read_teams(std::vector<team_snapshot>& out) = 0;
  /// Empty for a device without a queue pair.
  virtual std::optional<queue_counts> read_queues() const noexcept { return std::nullopt; }

  /// Calls `use` with the arena, or with a copy of it, at a safepoint: every team has ended its slice, and the sink has
  /// returned from every event. Senders may continue. False if a handler did not return within `limit` or the device is
  /// lost; `use` is then not called, and the device continues as before.
  virtual bool at_safepoint(std::chrono::nanoseconds limit, arena_access access,
                            std::function<void(arena_ref const&)> const& use) = 0;
  /// The same with arena_access::writes; the teams then continue with the code of another module. `heap_end` as in
  /// launch_spec. Throws std::runtime_error, before any change, if this device cannot run that module.
  virtual bool upgrade(std::chrono::nanoseconds limit, program const& next, std::uint64_t heap_end,
                       std::function<void(arena_ref const&)> const& use) = 0;
};

}  // namespace rondo
