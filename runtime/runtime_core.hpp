// All of a runtime that its callers do not see: its devices, tables and threads, and what becomes of them.
//
// runtime/runtime.hpp says what its functions do. Threads: as there.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <thread>

#include "runtime/any_ref.hpp"
#include "runtime/completions.hpp"
#include "runtime/config.hpp"
#include "runtime/device/make_device.hpp"
#include "runtime/directory.hpp"
#include "runtime/failure_log.hpp"
#include "runtime/graph/actor_graphs.hpp"
#include "runtime/hub.hpp"
#include "runtime/inspection.hpp"
#include "runtime/memory/buffer_pool.hpp"
#include "runtime/memory/region_resource.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/program.hpp"
#include "runtime/recorder.hpp"
#include "runtime/replayer.hpp"
#include "runtime/sharing/memfd_resource.hpp"
#include "runtime/telemetry.hpp"
#include "runtime/timers.hpp"
#include "runtime/trace_log.hpp"

namespace rondo {

struct checkpoint_image;

class runtime_core {
 public:
  runtime_core(config settings, program const& p, std::vector<chosen_device> chosen);
  ~runtime_core();
  runtime_core(runtime_core const&) = delete;
  runtime_core& operator=(runtime_core const&) = delete;

  result<actor_id> try_launch_untyped(std::string name, std::string_view behaviour,
                                      actor_options const& options);

  /// Of this behaviour.
  result<actor_id> find(std::string_view name, std::string_view behaviour) const;
  messenger& mail_of(actor_id actor) const noexcept { return *devices_[device_of(actor)].mail; }
  result<any_ref> find_any(std::string_view name) const;
  result<any_ref> at(actor_id actor) const;
  std::vector<directory::entry> list(std::uint32_t from, std::size_t most) const {
    return directory_->list(from, most);
  }
  result<listed_actor> listed(actor_id actor) const;
  void cancel(actor_id ask) { asks_->complete(ask, errc::cancelled, nullptr); }
  bool is_waiting(actor_id ask) const noexcept { return asks_->is_waiting(ask); }
  std::vector<behaviour_info> const& behaviours() const noexcept {
    return program_.load(std::memory_order_acquire)->behaviours;
  }

  void start_control(actor_id actor, control_bits bits, answer_handler handler);
  void start_inspection(actor_id actor, inspection_handler handler);
  void record(actor_graphs::recording const& what, std::uint32_t device);
  timer every(std::chrono::nanoseconds period, actor_id to, std::uint32_t type,
              std::span<std::byte const> payload, tell_options options);

  telemetry snapshot();
  std::vector<trace_hop> traces(std::uint64_t trace) const;
  std::uint64_t forgotten_hops() const { return traces_->forgotten(); }
  std::uint64_t new_trace() noexcept { return traces_->new_trace(); }
  [[nodiscard]] subscription on_dead_letter(std::function<void(dead_letter const&)> handler) {
    return dead_letters_->subscribe(std::move(handler));
  }
  [[nodiscard]] subscription on_failure_report(std::function<void(std::string const&)> handler) {
    return failures_->subscribe(std::move(handler));
  }
  std::unique_ptr<guest> make_guest(std::uint32_t device) { return devices_[device].dev->make_guest(); }
  std::uint32_t device_count() const noexcept { return static_cast<std::uint32_t>(devices_.size()); }
  device_info info(std::uint32_t device) const { return devices_[device].dev->info(); }
  std::string const& reason(std::uint32_t device) const noexcept { return devices_[device].reason; }
  config const& settings() const noexcept { return settings_; }
  buffer_pool& buffers(std::uint32_t device) noexcept {
    return devices_[device].buffers ? *devices_[device].buffers : *host_buffers_;
  }
  buffer_pool& host_buffers() noexcept { return *host_buffers_; }
  memfd_resource* shared_memory() noexcept { return shared_memory_.get(); }
  memory_pair memory(std::uint32_t device) noexcept {
    auto& d = devices_[device];
    return {host_buffers_.get(), &buffers(device), d.transfers.get(), copier_.get_executor(), d.pinned.get()};
  }
  transfer_counts transfers(std::uint32_t device) const noexcept {
    return devices_[device].transfers->read();
  }
  boost::asio::any_io_executor executor() { return context_.get_executor(); }

  void checkpoint(std::filesystem::path const& file, std::span<std::byte const> notes);
  std::vector<std::byte> restore(std::filesystem::path const& file);
  void begin_recording(std::filesystem::path const& file);
  bool flush_recording();
  void end_recording();
  replay_report replay(std::filesystem::path const& file,
                       std::function<void(std::uint64_t entries)> const& progress);
  void upgrade(program const& next);

  stop_report stop();

 private:
  struct rerun;
  /// Ends the actor, its mail unhandled. Blocks.
  void end_and_wait(actor_id actor);
  void restore_image(checkpoint_image& image, std::filesystem::path const& file);
  bool set_journal(std::uint32_t bits, std::function<void(std::vector<arena_ref> const&)> const& also);
  void close_recording();
  /// The graph of a captured actor is replayed by a team of the host.
  bool can_live_on(behaviour_info const& b, std::uint32_t device) const {
    return !b.is_captured || devices_[device].dev->shared_arena() != nullptr;
  }
  bool upgrade_devices(std::uint32_t first, program const& next,
                       std::function<void(arena_ref const&)> const& use);
  void forward(actor_id to, message const& body);
  void not_forwarded(outgoing const& m, errc why);
  void undelivered(actor_id to, std::uint32_t type, void const* payload, std::uint32_t bytes, error_code why);

  /// What the device reports to; outlives a runtime whose device could not be stopped.
  struct record_gate {
    std::shared_mutex mutex;
    runtime_core* open = nullptr;
  };
  void on_record(std::uint32_t device, host_record const& record);
  void on_terminated(host_record const& record);
  void on_failure(host_record const& record);
  void on_ended(host_record const& record);
  void on_depths(host_record const& record);
  void on_device_lost(std::uint32_t device, host_record const& record);
  bool closed() const noexcept { return devices_[0].mail->closed(); }
  errc closed_for() const noexcept { return devices_[0].mail->closed_for(); }
  void close(errc reason);
  void end_pending(errc reason);
  void settle(actor_id actor, lifecycle state);
  errc signal(actor_id actor, control_bits bits);
  void send_control(actor_id actor, control_bits bits);
  void send_next_control(actor_id actor);
  void watch();
  void sweep_deadlines();
  std::string name_of_actor(actor_id id) const;
  std::string name_of_index(std::uint32_t index) const;
  std::string name_of_type(std::uint32_t type) const;
  std::string name_of_behaviour(std::uint32_t index) const;
  std::string name_of_team(std::uint32_t device, std::size_t team) const;
  /// A line for each team that runs a handler at present: "team 1 <does> actor 'x', in a handler of y".
  std::vector<std::string> busy_teams(char const* does) const;
  /// device::at_quiet_point for all devices at once. `use` gets an arena for each.
  bool at_quiet_point(arena_access access, std::function<void(std::vector<arena_ref> const&)> const& use);
  std::string why_not_quiet() const;
  std::string why_no_room(checkpoint_image const& image) const;

  struct hosted {
    std::unique_ptr<device> dev;
    std::string reason;  // why it was chosen
    std::unique_ptr<messenger> mail{};
    std::unique_ptr<region_resource> region{};  // of the device's memory, for `buffers`
    std::unique_ptr<buffer_pool> buffers{};     // null: its actors lease the host's
    std::unique_ptr<buffer_pool> pinned{};      // of the host, for copies; null: there are none
    std::unique_ptr<memory_pair::counters> transfers = std::make_unique<memory_pair::counters>();
    std::vector<team_snapshot> watched{};  // what the watchdog saw last
  };
  struct pending_control {
    actor_id actor;
    control_bits awaited;
    answer_handler handler;
    bool sent;  // false: it is an actor's turn to sleep or wake after another such operation
  };
  struct pending_inspection {
    actor_id actor;
    inspection_handler handler;
  };

  config settings_;
  std::atomic<program const*> program_;
  std::unique_ptr<memfd_resource> shared_memory_;
  std::unique_ptr<buffer_pool> host_buffers_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
  std::unique_ptr<completions> asks_;
  std::unique_ptr<trace_log> traces_;
  std::vector<hosted> devices_;  // by the place that actors' ids tell; at least one
  std::unique_ptr<directory> directory_;
  std::unique_ptr<actor_graphs> graphs_;
  std::unique_ptr<hub<dead_letter>> dead_letters_;
  std::unique_ptr<hub<std::string>> failures_;
  failure_log last_failures_;
  // Both change at quiet points, and launches are locked out: who reports, or launches, reads them as they are.
  std::unique_ptr<recorder> recorder_;
  replayer* replayer_ = nullptr;
  std::unique_ptr<timer_service> timers_;
  boost::asio::steady_timer deadline_timer_{context_};
  boost::asio::steady_timer watch_timer_{context_};
  std::shared_ptr<record_gate> gate_ = std::make_shared<record_gate>();
  std::mutex pending_mutex_;
  // Lists, for elements that never move: Boost 1.81's completion handlers must not be move-assigned.
  std::list<pending_control> pending_controls_;
  std::list<pending_inspection> pending_inspections_;
  std::map<std::uint32_t, std::vector<depth_page::entry>> depths_so_far_;  // by cell: pages that have come
  errc ended_ = errc::ok;   // why later operations are refused at once; guarded by pending_mutex_
  actor_totals retired_{};  // guarded by pending_mutex_
  atomic<std::uint64_t> dead_letter_count_{0};
  std::shared_mutex launching_;  // shared: launching an actor; exclusive: a checkpoint sees none half done
  std::once_flag stopped_once_;
  stop_report stop_report_;
  std::thread service_;
  boost::asio::thread_pool copier_{1};
};

}  // namespace rondo
