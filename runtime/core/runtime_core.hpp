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
  /// As many without names, in the order of their arguments, and of their capacities, if there are any; see
  /// runtime::launch_many.
  result<std::vector<actor_id>> launch_many(std::string_view behaviour, std::size_t count,
                                            actor_options const& options,
                                            std::span<std::byte const> arguments,
                                            std::span<std::uint32_t const> capacities = {});
  /// Throws std::invalid_argument if `launch` would, or for `count` other than 0, `launch_many`.
  void require_possible(std::string const& name, std::string_view behaviour, actor_options const& options,
                        std::size_t count) const;
  /// Where operations that block run, one after the other. Once the runtime ends, that is its own thread, where they
  /// fail at once.
  boost::asio::any_io_executor operations();
  /// Terminates the actor without handling its mail. Blocks. Throws boost::system::system_error with would_deadlock on
  /// one of the own threads.
  void end_and_wait(actor_id actor);
  std::vector<behaviour_info> const& behaviours() const noexcept { return running().behaviours; }
  timer every(std::chrono::nanoseconds period, actor_id to, std::uint32_t type,
              std::span<std::byte const> payload, tell_options options);
  /// Forwards a message from one device to another, or from the host. It waits for room.
  void forward(actor_id to, message const& body);
  /// Sends a timed or delayed message; if it is refused, it becomes a dead letter.
  void send_or_bury(actor_id to, message_header const& header, std::byte const* payload, std::uint32_t bytes);

  // -- memory

  buffer_pool& buffers(std::uint32_t device) noexcept {
    return devices_[device].buffers ? *devices_[device].buffers : host_buffers_;
  }
  memory_pair memory(std::uint32_t device) noexcept;

  // -- the whole runtime

  /// Whether a safepoint would wait for the calling thread, or for threads that a fork has left behind. Nothing waits
  /// for the service thread.
  bool blocks_safepoint() const noexcept {
    return threads_.would_deadlock() && std::this_thread::get_id() != service_.get_id();
  }
  /// Calls `use` at a safepoint of all devices. False if none was reached within settings().stop_timeout_ms, or
  /// blocks_safepoint.
  bool at_safepoint(arena_access access, std::function<void(std::vector<arena_ref> const&)> const& use);
  std::string why_no_safepoint() const;
  /// Sets `journal_bits` on all devices at a safepoint and calls `also` there. False if no safepoint was reached.
  /// Precondition: the caller holds `launching`.
  bool set_journal(std::uint32_t bits, std::function<void()> const& also);
  /// Reports the failure if the file is incomplete.
  void close_recording(recorder& last);
  bool closed() const noexcept { return devices_[0].mail->closed(); }
  errc closed_for() const noexcept { return devices_[0].mail->closed_for(); }
  stop_report stop();

  // -- parts

  config const& settings() const noexcept { return settings_; }
  /// Of this object and its devices; without the copier, which completes no message.
  own_threads& threads() noexcept { return threads_; }
  /// The current module.
  program const& running() const noexcept { return *running_.load(std::memory_order_acquire); }
  /// At a safepoint, with `launching` held: continues with this module.
  void run_module(program const& next) noexcept { running_.store(&next, std::memory_order_release); }
  /// Null without settings().share_buffers.
  memfd_resource* shared_memory() noexcept { return shared_memory_.get(); }
  buffer_pool& host_buffers() noexcept { return host_buffers_; }
  /// The GPU that plays kernels on the host's buffers; null: there is none.
  kernel_player* player() noexcept { return player_.get(); }
  boost::asio::io_context& context() noexcept { return context_; }
  completions& asks() noexcept { return asks_; }
  trace_log& traces() noexcept { return traces_; }
  device_set& devices() noexcept { return devices_; }
  directory& actors() noexcept { return actors_; }
  name_book const& names() const noexcept { return names_; }
  actor_graphs& captures() noexcept { return captures_; }
  observation& watched() noexcept { return watched_; }
  actor_requests& requests() noexcept { return requests_; }
  /// Held shared while an actor is launched; held exclusively by operations that must not see a half-launched actor.
  std::shared_mutex& launching() noexcept { return launching_; }
  /// The recording in progress, or null. This and the replay change only at safepoints with `launching` held, so
  /// devices and launches read them without further locks.
  std::shared_ptr<recorder> const& recording() const noexcept { return recording_; }
  /// Returns the one before.
  std::shared_ptr<recorder> set_recording(std::shared_ptr<recorder> next) noexcept {
    return std::exchange(recording_, std::move(next));
  }
  std::shared_ptr<replayer> const& replay() const noexcept { return replay_; }
  void set_replay(std::shared_ptr<replayer> next) noexcept { replay_ = std::move(next); }

 private:
  /// The target of the devices' reports; outlives a runtime whose device could not be stopped.
  struct event_gate {
    std::shared_mutex mutex;
    runtime_core* open = nullptr;
  };
  std::uint32_t capacity_of(actor_options const& options) const noexcept {
    return options.capacity.value_or(settings_.default_capacity);
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

  config const settings_;
  own_threads threads_;
  own_threads copying_;  // the copier
  std::atomic<program const*> running_;
  std::unique_ptr<memfd_resource> shared_memory_;
  std::shared_ptr<kernel_player> player_;  // whose memory the host's buffers are in; null: none
  buffer_pool host_buffers_;
  boost::asio::io_context context_{1};
  completions asks_;
  trace_log traces_;
  device_set devices_;
  directory actors_;
  name_book names_{devices_, actors_, running_};
  actor_graphs captures_;
  actor_control control_{devices_, actors_, context_};
  observation watched_{devices_, actors_, names_, asks_, traces_, context_};
  actor_requests requests_{*this};
  std::shared_mutex launching_;
  std::shared_ptr<recorder> recording_;
  std::shared_ptr<replayer> replay_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
  boost::asio::steady_timer deadline_timer_{context_};
  std::shared_ptr<event_gate> gate_ = std::make_shared<event_gate>();
  std::once_flag stopped_once_;
  stop_report stop_report_;
  std::thread service_;
  std::unique_ptr<runtime_core> itself_;  // on its own thread, once that has destroyed the runtime
  std::mutex operating_;                  // guards the two below
  std::optional<task_thread> operator_;   // from the first operation on
  bool operates_ = true;                  // false: the runtime ends
  task_thread copier_{"rondo-copier", copying_,
                      [this](char const* text) { watched_.on_thrown("a completion handler", text); }};
  timer watches_service_, watches_copier_;  // from the other one; last: they end before both threads
};

}  // namespace rondo
