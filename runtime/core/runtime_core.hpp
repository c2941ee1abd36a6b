// The core of a runtime: owns its parts and connects them. It launches actors and passes the devices' reports to the
// parts that they concern. runtime/runtime.hpp is the public interface.
//
// checkpoint.cpp, lifecycle.cpp, recording.cpp, replay.cpp, upgrade.cpp, and capture_graph.cpp work on these parts.
// Threads: as in their headers.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/base/config.hpp"
#include "runtime/core/actor_control.hpp"
#include "runtime/core/actor_requests.hpp"
#include "runtime/core/device_set.hpp"
#include "runtime/core/directory.hpp"
#include "runtime/core/name_book.hpp"
#include "runtime/core/observation.hpp"
#include "runtime/core/timer.hpp"
#include "runtime/device/program.hpp"
#include "runtime/graph/actor_graphs.hpp"
#include "runtime/memory/buffer_pool.hpp"
#include "runtime/messaging/any_ref.hpp"
#include "runtime/messaging/completions.hpp"
#include "runtime/messaging/trace_log.hpp"
#include "runtime/os/own_threads.hpp"
#include "runtime/os/task_thread.hpp"
#include "runtime/sharing/memfd_resource.hpp"
#include "runtime/state/recording_file.hpp"
#include "runtime/state/replayer.hpp"

namespace rondo {

class runtime_core {
 public:
  runtime_core(config c, program const& p, std::vector<chosen_device> chosen);
  runtime_core(runtime_core const&) = delete;
  runtime_core& operator=(runtime_core const&) = delete;
  /// Stops the core and its threads. Completion handlers may use the core until this returns. If a handler of an actor
  /// does not return, takes the core and never destroys it, because that handler uses it; queued completions are then
  /// not called. On the core's own thread, returns before that ends; it then destroys the core.
  static void retire(std::unique_ptr<runtime_core>& core);

  // -- actors

  /// `arguments`: for the behaviour's on_start; empty: the default ones.
  result<actor_id> launch(std::string name, std::string_view behaviour, actor_options const& options,
                          std::span<std::byte const> arguments = {});
  /// The same for a caller that holds `launching`, at least shared.
  result<actor_id> launch_held(std::string name, std::string_view behaviour, actor_options const& options,
                               std::span<std::byte const> arguments);
  /// As many without names, in the order of their arguments; see runtime::launch_many.
  result<std::vector<actor_id>> launch_many(std::string_view behaviour, std::size_t count,
                                            actor_options const& options,
                                            std::span<std::byte const> arguments);
  /// Throws std::invalid_argument if `launch` would, or for `count` other than 0, `launch_many`.
  void require_possible(std::string const& name, std::string_view behaviour, actor_options const& options,
                        std::size_t count) const;
  /// Where operations that block run, one after the other. Once the runtime ends, that is its own thread, where they
  /// fail at once.
  boost::asio::any_io_executor operations();
  /// Terminates the actor without handling its mail. Blocks. Throws boost::system::system_error with would_deadlock on
  /// one of the own threads.
  void end_and_wait(actor_id actor);
  std::vector<behaviour_info> const& behaviours() const noexcept {
    return running.load(std::memory_order_acquire)->behaviours;
  }
  timer every(std::chrono::nanoseconds period, actor_id to, std::uint32_t type,
              std::span<std::byte const> payload, tell_options options);
  /// Forwards a message from one device to another, or from the host. It waits for room.
  void forward(actor_id to, message const& body);
  /// Sends a timed or delayed message; if it is refused, it becomes a dead letter.
  void send_or_bury(actor_id to, message_header const& header, std::byte const* payload, std::uint32_t bytes);

  // -- memory

  buffer_pool& buffers(std::uint32_t device) noexcept {
    return devices[device].buffers ? *devices[device].buffers : host_buffers;
  }
  memory_pair memory(std::uint32_t device) noexcept;

  // -- the whole runtime

  /// Whether a safepoint would wait for the calling thread, or for threads that a fork has left behind. Nothing waits
  /// for the service thread.
  bool blocks_safepoint() const noexcept {
    return threads.would_deadlock() && std::this_thread::get_id() != service_.get_id();
  }
  /// Calls `use` at a safepoint of all devices. False if none was reached within settings.stop_timeout_ms, or
  /// blocks_safepoint.
  bool at_safepoint(arena_access access, std::function<void(std::vector<arena_ref> const&)> const& use);
  std::string why_no_safepoint() const;
  /// Sets `journal_bits` on all devices at a safepoint and calls `also` there. False if no safepoint was reached.
  /// Precondition: the caller holds `launching`.
  bool set_journal(std::uint32_t bits, std::function<void()> const& also);
  /// Reports the failure if the file is incomplete.
  void close_recording(recorder& last);
  bool closed() const noexcept { return devices[0].mail->closed(); }
  errc closed_for() const noexcept { return devices[0].mail->closed_for(); }
  stop_report stop();

  // -- parts

  config const settings;
  own_threads threads;  // of this object and its devices; without the copier, which completes no message
  own_threads copying;  // the copier
  std::atomic<program const*> running;            // the current module
  std::unique_ptr<memfd_resource> shared_memory;  // null without settings.share_buffers
  buffer_pool host_buffers;
  boost::asio::io_context context{1};
  completions asks;
  trace_log traces;
  device_set devices;
  directory actors;
  name_book names{devices, actors, running};
  actor_graphs captures;
  actor_control control{devices, actors, context};
  observation watched{devices, actors, names, asks, traces, context};
  actor_requests requests{*this};
  /// Held shared while an actor is launched; held exclusively by operations that must not see a half-launched actor.
  std::shared_mutex launching;
  // Both change only at safepoints with `launching` held, so devices and launches read them without further locks.
  std::shared_ptr<recorder> recording;
  std::shared_ptr<replayer> replay;

 private:
  /// The target of the devices' reports; outlives a runtime whose device could not be stopped.
  struct event_gate {
    std::shared_mutex mutex;
    runtime_core* open = nullptr;
  };
  std::uint32_t capacity_of(actor_options const& options) const noexcept {
    return options.capacity.value_or(settings.default_capacity);
  }
  result<std::uint16_t> require_launchable(std::string const& name, std::string_view behaviour,
                                           actor_options const& options, std::span<std::byte const> arguments,
                                           std::size_t count) const;
  void record_launch(launch_spec const& spec, std::span<std::byte const> arguments);
  void forget_launch(actor_id actor);
  /// Whether a recording is in progress, and has this actor.
  bool is_recorded(actor_id actor) const;
  static void bury(std::unique_ptr<runtime_core> core);
  void start_devices();
  void watch_own_threads(std::chrono::milliseconds limit);
  void on_event(std::uint32_t device, device_event const& event);
  void on_terminated(device_event const& event);
  void on_ended(device_event const& event);
  void on_device_lost(std::uint32_t device, device_event const& event);
  void not_forwarded(outgoing const& m, errc why);
  void close(errc reason);
  void end_pending(errc reason);
  void expect_deadline(std::uint64_t deadline_ns);
  void sweep_deadlines();

  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context.get_executor()};
  boost::asio::steady_timer deadline_timer_{context};
  std::shared_ptr<event_gate> gate_ = std::make_shared<event_gate>();
  std::once_flag stopped_once_;
  stop_report stop_report_;
  std::thread service_;
  std::unique_ptr<runtime_core> itself_;  // on its own thread, once that has destroyed the runtime
  std::mutex operating_;                  // guards the two below
  std::optional<task_thread> operator_;   // from the first operation on
  bool operates_ = true;                  // false: the runtime ends
  task_thread copier_{"rondo-copier", copying,
                      [this](char const* text) { watched.on_thrown("a completion handler", text); }};
  timer watches_service_, watches_copier_;  // from the other one; last: they end before both threads
};

}  // namespace rondo
