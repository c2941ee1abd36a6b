// The host object: owns devices and their ring kernels, launches actors, completes asks, watches and stops it
// all.
//
//   rondo::runtime rt{rondo::use<counters>};
//   auto clicks = rt.launch<counter>("clicks", {.capacity = 1024});
//   clicks.try_tell(add{2});
//   total t = clicks.ask(get{}, 10ms, rondo::block).value();
//
// With several devices (`"device": "cpu,cuda:0"`) each actor lives on one of them, refs look the same, and messages cross
// by way of the host. The devices share one fate: when one is lost, all that is pending ends with device_lost.
//
// Threads: all functions from any thread; construction and destruction alone.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
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
#include "runtime/config.hpp"
#include "runtime/device/make_device.hpp"
#include "runtime/directory.hpp"
#include "runtime/graph/actor_graphs.hpp"
#include "runtime/hub.hpp"
#include "runtime/memory/buffer_pool.hpp"
#include "runtime/memory/region_resource.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/program.hpp"
#include "runtime/recorder.hpp"
#include "runtime/replayer.hpp"
#include "runtime/sharing/memfd_resource.hpp"
#include "runtime/telemetry.hpp"
#include "runtime/timers.hpp"

namespace rondo {

template <class Module>
struct use_t {};
/// Names the module that a runtime runs.
template <class Module>
inline constexpr use_t<Module> use{};

/// How an actor is terminated: with its waiting mail handled first, or dead-lettered.
enum class termination { drain, discard };

struct checkpoint_image;

/// What `inspect` finds.
struct inspection {
  actor_snapshot now;
  std::vector<depth_page::entry> depths;  // by priority, highest first; only priorities that have mail
};

class runtime {
 public:
  /// Starts the devices that `settings` asks for. Throws config_error, std::runtime_error, std::system_error.
  template <class Module>
  explicit runtime(use_t<Module>, config settings = {})
      : runtime(validated(settings), program_of<Module>(), make_devices(program_of<Module>(), settings)) {}
  /// The same on devices that the caller has made for `settings` and `Module`, each for its place in the list.
  template <class Module>
  runtime(use_t<Module>, config settings, std::vector<chosen_device> chosen)
      : runtime(validated(settings), program_of<Module>(), std::move(chosen)) {}
  /// Stops; see `stop`.
  ~runtime();
  runtime(runtime const&) = delete;
  runtime& operator=(runtime const&) = delete;

  // -- actors

  /// Throws boost::system::system_error with name_taken, actor_limit, out_of_memory or stopped, and
  /// std::invalid_argument for a capacity of 0 or a device that the runtime has not. An empty name makes an actor that
  /// only its ref reaches.
  template <class Behaviour>
  actor_ref<Behaviour> launch(std::string name, actor_options const& options = {}) {
    auto const id = try_launch_untyped(std::move(name), type_name<Behaviour>, options);
    if (!id) throw boost::system::system_error(id.error(), "launching an actor");
    return {mail_of(*id), *id};
  }
  template <class Behaviour>
  result<actor_ref<Behaviour>> try_launch(std::string name, actor_options const& options = {}) {
    auto const id = try_launch_untyped(std::move(name), type_name<Behaviour>, options);
    if (!id) return id.error();
    return actor_ref<Behaviour>{mail_of(*id), *id};
  }
  result<actor_id> try_launch_untyped(std::string name, std::string_view behaviour,
                                      actor_options const& options);

  /// The living actor of this name; not_found when there is none, or it has another behaviour.
  template <class Behaviour>
  result<actor_ref<Behaviour>> find(std::string_view name) const {
    auto const found = directory_->find(name);
    if (!found || behaviours()[found->behaviour].name != type_name<Behaviour>) return errc::not_found;
    return actor_ref<Behaviour>{mail_of(found->id), found->id};
  }
  /// The living actor of this name, or of this id, whatever its behaviour; not_found or actor_gone when there is none. The ref
  /// knows the module that runs at present: look again after an upgrade.
  result<any_ref> find_any(std::string_view name) const;
  result<any_ref> at(actor_id actor) const;
  std::vector<directory::entry> list() const { return directory_->list(); }
  /// Of the module that runs at present.
  std::vector<behaviour_info> const& behaviours() const noexcept {
    return program_.load(std::memory_order_acquire)->behaviours;
  }

  /// Each completes with void(error_code) when it is done: actor_gone for an actor that is not there any
  /// more. Deactivated actors keep their mail and handle none.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto activate(actor_id actor, Token&& token = {}) {
    return control(actor, control_activate, std::forward<Token>(token));
  }
  template <class Token = boost::asio::use_awaitable_t<>>
  auto deactivate(actor_id actor, Token&& token = {}) {
    return control(actor, control_deactivate, std::forward<Token>(token));
  }
  /// Completes when the actor is gone and its name is free.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto terminate(actor_id actor, termination how, Token&& token = {}) {
    return control(actor, how == termination::drain ? control_drain : control_discard,
                   std::forward<Token>(token));
  }
  /// Completes with void(error_code, inspection): state, counters and depth by priority at one turn of the
  /// actor.
  template <class Token = boost::asio::use_awaitable_t<>>
  auto inspect(actor_id actor, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, inspection)>(
        [this](auto handler, actor_id id) {
          start_inspection(id, inspect_handler(detail::unpacked<decltype(handler)>{std::move(handler)}));
        },
        token, actor);
  }

  /// Records the graph that the captured actor of this name replays for each message: see kernels/captured.hpp. It may come
  /// before the actor is launched or restored; done again it takes effect between two messages. `work` is called with a
  /// rondo::stream, and with the addresses of request and reply as the device sees them, and its steps run on `device`.
  /// Throws boost::system::system_error when there is no memory for those, std::runtime_error when the machine refuses,
  /// std::invalid_argument for a device that the runtime has not.
  template <captured_behaviour Behaviour, class Work>
  void record(std::string actor, std::uint32_t device, Work work) {
    using request = typename Behaviour::request_type;
    using reply = typename Behaviour::reply_type;
    record_untyped({std::move(actor), sizeof(request), sizeof(reply),
                    [&work](stream& s, std::byte const* in, std::byte* out) {
                      work(s, reinterpret_cast<request const*>(in), reinterpret_cast<reply*>(out));
                    }},
                   device);
  }

  // -- time

  /// Sends a copy of `m` every `period` until the returned timer goes. What cannot be delivered is a dead
  /// letter.
  template <class Behaviour, message_type Message>
  requires takes<Behaviour, Message>
  [[nodiscard]] timer every(std::chrono::nanoseconds period, actor_ref<Behaviour> to, Message const& m,
                            tell_options options = {}) {
    return timers_->every(period, [this, to, m, options] {
      auto const header = actor_ref<Behaviour>::template header_for<Message>(options);
      if (auto const refused = mail_of(to.id()).try_post_apart(to.id(), header, &m, sizeof m);
          refused != errc::ok)
        undelivered(to.id(), type_id<Message>, &m, sizeof m, refused);
    });
  }

  // -- looking

  telemetry snapshot();
  /// The hops of one trace, or of all for 0, in the order in which they ended; of the last settings().trace_hops.
  std::vector<trace_hop> traces(std::uint64_t trace = 0) const;
  /// Hops that were kept no longer.
  std::uint64_t forgotten_hops() const { return traces_->forgotten(); }
  /// A number for tell_options::trace and ask_options::trace.
  std::uint64_t new_trace() noexcept { return traces_->new_trace(); }
  /// Calls `handler` with each dead letter, on the runtime's own thread, until the subscription goes.
  [[nodiscard]] subscription on_dead_letter(std::function<void(dead_letter const&)> handler) {
    return dead_letters_->subscribe(std::move(handler));
  }
  /// Calls `handler` with each failure of an actor, and with each handler that runs longer than
  /// handler_limit_ms; but nobody looks for those in a build without telemetry (kernels/telemetry.hpp).
  [[nodiscard]] subscription on_failure_report(std::function<void(std::string const&)> handler) {
    return failures_->subscribe(std::move(handler));
  }
  /// See runtime/guest.hpp; null beyond settings().guest_teams, and for a device that is not `cpu`.
  std::unique_ptr<guest> make_guest(std::uint32_t device = 0) { return devices_[device].dev->make_guest(); }
  std::uint32_t device_count() const noexcept { return static_cast<std::uint32_t>(devices_.size()); }
  /// Precondition, also of `reason`: device < device_count().
  device_info info(std::uint32_t device = 0) const { return devices_[device].dev->info(); }
  /// Why this device was chosen.
  std::string const& reason(std::uint32_t device = 0) const noexcept { return devices_[device].reason; }
  config const& settings() const noexcept { return settings_; }
  /// The buffers that actors of this device can lease: in the host's memory for `cpu`, else in the device's own.
  buffer_pool& buffers(std::uint32_t device = 0) noexcept {
    return devices_[device].buffers ? *devices_[device].buffers : *host_buffers_;
  }
  buffer_pool& host_buffers() noexcept { return *host_buffers_; }
  /// What host_buffers lie in, for a buffer_exporter; null without settings().share_buffers.
  memfd_resource* shared_memory() noexcept { return shared_memory_.get(); }
  /// For a unified_buffer between this program and the actors of that device.
  memory_pair memory(std::uint32_t device = 0) noexcept {
    auto& d = devices_[device];
    return {host_buffers_.get(), &buffers(device), d.transfers.get(), copier_.get_executor(), d.pinned.get()};
  }
  /// Copies of unified buffers between the host and that device so far.
  transfer_counts transfers(std::uint32_t device = 0) const noexcept {
    return devices_[device].transfers->read();
  }
  boost::asio::any_io_executor executor() { return context_.get_executor(); }

  // -- endings

  /// Writes all actors, their states and waiting mail to `file`, at a point where no handler runs; see
  /// runtime/checkpoint.hpp for what is kept. Blocks its caller, senders hardly. The file is complete or not
  /// there at all; an old one is kept until then. `notes` are bytes of the caller's own that `restore` gives back: what
  /// must agree with the states, such as which messages of a queue are in them. Throws std::runtime_error naming the file
  /// and the reason.
  void checkpoint(std::filesystem::path const& file, std::span<std::byte const> notes = {});
  /// Launches all actors of a checkpoint with their ids, states and mail; counters go on from there.
  /// Returns the checkpoint's notes; none when it was written without them, or before there were any.
  /// Precondition: no actor lives; the rest of the program does not use the runtime meanwhile. Blocks. Throws
  /// std::runtime_error for a file that is torn, foreign, of another module, or does not fit into this
  /// runtime; then no actor lives.
  std::vector<std::byte> restore(std::filesystem::path const& file);

  /// From here on writes each message that ends, with how it ended, to `file`, and each actor that is launched or ends; first
  /// come the actors that live, as they are. What each message's sender does pays for it. Blocks until no handler runs.
  /// Meanwhile `restore` and `upgrade` are refused. Throws std::runtime_error when the file is there or cannot be made, or no
  /// quiet moment came.
  void begin_recording(std::filesystem::path const& file);
  /// What was written reaches the file: for who may be killed. Otherwise 64 KiB come together first.
  void flush_recording();
  /// Ends it, as `stop` does. Throws std::runtime_error when none is going on, and when the file does not hold everything;
  /// the latter is a failure report, too, when it happens.
  void end_recording();
  /// Has actors handle a recording's messages once more: the same ones, in each actor's order, one at a time, from the same
  /// states; what handlers send goes nowhere, for what came of it is in the recording. Compared are how each handler ended and
  /// what it sent: to whom, which types, and payloads without padding or floating-point numbers. Then the actors go on from
  /// the states that they have come to. Handlers that read clocks or buffers, batches, and those whose sends a full mailbox
  /// refused may come to others. Precondition: as `restore`. Blocks. Throws std::runtime_error for a file that is foreign,
  /// damaged, or of another module.
  replay_report replay(std::filesystem::path const& file,
                       std::function<void(std::uint64_t entries)> const& progress = {});

  /// Goes on with another module: its behaviours that say which old one they upgrade take over those actors, and those of
  /// the same name keep theirs; ids, names, mail and counters stay. What waits and is unknown to the new behaviour is a
  /// dead letter. Blocks its caller until no handler runs. Throws std::runtime_error, and all goes on as before, when a
  /// living actor's behaviour has no successor, memory is short, the device cannot run the module, or no quiet moment came.
  template <class Module>
  void upgrade(use_t<Module>) {
    upgrade_to(program_of<Module>());
  }

  /// Ends the ring kernel within settings().stop_timeout_ms; pending asks complete with `stopped`. Says which
  /// team hangs in which actor when one does. Idempotent.
  stop_report stop();

 private:
  struct inspection_outcome {
    errc reason;
    inspection found;
  };
  using inspect_handler = boost::asio::any_completion_handler<void(inspection_outcome)>;
  runtime(config settings, program const& p, std::vector<chosen_device> chosen);
  struct rerun;
  void restore_image(checkpoint_image& image, std::filesystem::path const& file);
  bool set_journal(std::uint32_t bits, std::function<void(std::vector<arena_ref> const&)> const& also);
  void close_recording();
  void record_untyped(actor_graphs::recording const& what, std::uint32_t device);
  /// The graph of a captured actor is replayed by a team of the host.
  bool can_live_on(behaviour_info const& b, std::uint32_t device) const {
    return !b.is_captured || devices_[device].dev->shared_arena() != nullptr;
  }
  void upgrade_to(program const& next);
  bool upgrade_devices(std::uint32_t first, program const& next,
                       std::function<void(arena_ref const&)> const& use);
  static config const& validated(config const& c) {
    validate(c);
    return c;
  }

  template <class Token>
  auto control(actor_id actor, control_bits bits, Token&& token) {
    return boost::asio::async_initiate<Token, void(error_code)>(
        [this](auto handler, actor_id id, control_bits b) {
          start_control(id, b,
                        answer_handler(detail::typed_answer<decltype(handler), void>{std::move(handler)}));
        },
        token, actor, bits);
  }
  void start_control(actor_id actor, control_bits bits, answer_handler handler);
  void start_inspection(actor_id actor, inspect_handler handler);
  messenger& mail_of(actor_id actor) const noexcept { return *devices_[device_of(actor)].mail; }
  void forward(actor_id to, message const& body);
  void not_forwarded(outgoing const& m, errc why);
  void undelivered(actor_id to, std::uint32_t type, void const* payload, std::uint32_t bytes, error_code why);

  /// What the device reports to; outlives a runtime whose device could not be stopped.
  struct record_gate {
    std::shared_mutex mutex;
    runtime* open = nullptr;
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
    inspect_handler handler;
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
