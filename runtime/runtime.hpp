// The runtime: owns devices and their ring kernels, launches actors, and stops everything.
//
//   rondo::runtime rt{rondo::use<counters>};
//   auto clicks = rt.launch<counter>("clicks", {.capacity = 1024});
//   clicks.try_tell(add{2});
//   total t = clicks.ask(get{}, 10ms, rondo::block).value();
//
// With several devices (`"device": "cpu,cuda:0"`), each actor lives on one of them, refs look the same, and the host
// forwards messages between them. If one device is lost, everything pending on any device completes with device_lost.
//
// Further operations have their own headers: lifecycle.hpp (terminate, inspect, ...), checkpoint.hpp, recording.hpp,
// replay.hpp, upgrade.hpp, capture_graph.hpp.
// Threads: all functions may be called from any thread; construction and destruction must not overlap other calls.
#pragma once

#include "runtime/base/config.hpp"
#include "runtime/base/device_report.hpp"
#include "runtime/base/listed_actor.hpp"
#include "runtime/core/timer.hpp"
#include "runtime/device/program.hpp"
#include "runtime/messaging/any_ref.hpp"
#include "runtime/observe/events.hpp"
#include "runtime/observe/log.hpp"
#include "runtime/observe/telemetry.hpp"
#include "runtime/operation.hpp"

namespace rondo {

// Include the header of each class that you use.
class buffer_pool;       // runtime/memory/buffer_pool.hpp
struct chosen_device;    // runtime/core/make_device.hpp
class graph_reports;     // runtime/observe/graph_reports.hpp
class guest;             // runtime/base/guest.hpp
class memfd_resource;    // runtime/sharing/memfd_resource.hpp
struct memory_pair;      // runtime/memory/unified_buffer.hpp
struct transfer_counts;  // runtime/memory/unified_buffer.hpp
class trace_log;         // runtime/messaging/trace_log.hpp
class runtime_core;

class runtime {
 public:
  /// Starts the devices that the environment asks for (config_from_environment). Throws config_error,
  /// std::runtime_error, std::system_error.
  template <class Module>
  explicit runtime(use_t<Module>) : runtime(config_from_environment(), program_of<Module>()) {}
  /// Starts the devices that `settings` asks for, whatever the environment says. Throws as above.
  template <class Module>
  runtime(use_t<Module>, config settings) : runtime(std::move(settings), program_of<Module>()) {}
  /// The same on devices that the caller has made for `settings` and `Module`, each for its index in the list.
  template <class Module>
  runtime(use_t<Module>, config settings, std::vector<chosen_device> chosen)
      : runtime(std::move(settings), program_of<Module>(), std::move(chosen)) {}
  /// Calls `stop`. Also on the runtime's own thread, in a completion handler or a subscriber: then handlers that are
  /// still to be called run after that one has returned, and what is left of the runtime ends with them. A handler of
  /// an actor must not destroy its runtime: the stop would wait for it, for stop_timeout_ms.
  ~runtime();
  runtime(runtime const&) = delete;
  runtime& operator=(runtime const&) = delete;

  // -- actors

  /// Launches an actor. With an empty name, only its ref reaches it. Throws boost::system::system_error with
  /// name_taken, unknown_behaviour, actor_limit, out_of_memory, or stopped, and std::invalid_argument for a capacity of
  /// 0, an unknown device, or a name of more than 255 bytes or with control characters.
  template <class Behaviour>
  actor_ref<Behaviour> launch(std::string name, actor_options const& options = {}) {
    auto const made = try_launch<Behaviour>(std::move(name), options);
    if (!made) not_launched(made.error(), type_name<Behaviour>);
    return *made;
  }
  /// With the arguments for its on_start, which are kept for its restarts; otherwise `Behaviour::arguments{}`.
  template <class Behaviour>
  actor_ref<Behaviour> launch(std::string name, actor_options const& options,
                              typename Behaviour::arguments const& arguments) {
    auto const made = try_launch<Behaviour>(std::move(name), options, arguments);
    if (!made) not_launched(made.error(), type_name<Behaviour>);
    return *made;
  }
  /// The same for a caller that does not wait: completes with void(error_code, actor_ref<Behaviour>), where launch
  /// would throw with the error's code. Throws std::invalid_argument at once, as launch.
  template <class Behaviour, detail::operation_token<void(error_code, actor_ref<Behaviour>)> Token>
  auto launch(std::string name, actor_options const& options, Token&& token) {
    require_launchable(name, type_name<Behaviour>, options);
    return detail::operate<actor_ref<Behaviour>>(
        *this, std::forward<Token>(token),
        [this, name = std::move(name), options] { return try_launch<Behaviour>(name, options); });
  }
  /// The same with arguments.
  template <class Behaviour, detail::operation_token<void(error_code, actor_ref<Behaviour>)> Token>
  auto launch(std::string name, actor_options const& options, typename Behaviour::arguments const& arguments,
              Token&& token) {
    require_launchable(name, type_name<Behaviour>, options);
    return detail::operate<actor_ref<Behaviour>>(*this, std::forward<Token>(token),
                                                 [this, name = std::move(name), options, arguments] {
                                                   return try_launch<Behaviour>(name, options, arguments);
                                                 });
  }
  /// The same; returns the error that launch throws as a boost::system::system_error.
  template <class Behaviour>
  result<actor_ref<Behaviour>> try_launch(std::string name, actor_options const& options = {}) {
    return ref<Behaviour>(try_launch_untyped(std::move(name), type_name<Behaviour>, options));
  }
  /// The same with arguments.
  template <class Behaviour>
  result<actor_ref<Behaviour>> try_launch(std::string name, actor_options const& options,
                                          typename Behaviour::arguments const& arguments) {
    return ref<Behaviour>(try_launch_untyped(std::move(name), type_name<Behaviour>, options,
                                             std::as_bytes(std::span(&arguments, 1))));
  }
  /// The same for a behaviour that is known only by its qualified name. `arguments`: of the behaviour; empty: the
  /// default ones.
  result<actor_id> try_launch_untyped(std::string name, std::string_view behaviour,
                                      actor_options const& options,
                                      std::span<std::byte const> arguments = {});

  /// Launches `count` actors without names, each as `launch` would, but faster, and all or none: if a device ends or
  /// memory runs out on the way, those that have begun are terminated. Throws as launch, and std::invalid_argument for
  /// pinned ones.
  template <class Behaviour>
  std::vector<actor_ref<Behaviour>> launch_many(std::size_t count, actor_options const& options = {}) {
    return refs<Behaviour>(launch_many_untyped(type_name<Behaviour>, count, options, {}));
  }
  /// One actor for each of `arguments`, in their order.
  template <class Behaviour>
  std::vector<actor_ref<Behaviour>> launch_many(std::span<typename Behaviour::arguments const> arguments,
                                                actor_options const& options = {}) {
    return refs<Behaviour>(
        launch_many_untyped(type_name<Behaviour>, arguments.size(), options, std::as_bytes(arguments)));
  }
  /// One actor for each of `capacities`, which is that of its mailbox, in place of options.capacity. Throws
  /// std::invalid_argument for one that launch refuses.
  template <class Behaviour>
  std::vector<actor_ref<Behaviour>> launch_many(each_capacity capacities, actor_options const& options = {}) {
    return refs<Behaviour>(
        launch_many_untyped(type_name<Behaviour>, capacities.of.size(), options, {}, capacities.of));
  }
  /// The same with `arguments`, of which there are as many.
  template <class Behaviour>
  std::vector<actor_ref<Behaviour>> launch_many(std::span<typename Behaviour::arguments const> arguments,
                                                each_capacity capacities, actor_options const& options) {
    if (arguments.size() != capacities.of.size())
      throw std::invalid_argument("launch_many: there is not one capacity for each of the arguments");
    return refs<Behaviour>(launch_many_untyped(type_name<Behaviour>, arguments.size(), options,
                                               std::as_bytes(arguments), capacities.of));
  }
  /// The first two for a caller that does not wait: complete with void(error_code, std::vector<actor_ref<Behaviour>>),
  /// as launch.
  template <class Behaviour,
            detail::operation_token<void(error_code, std::vector<actor_ref<Behaviour>>)> Token>
  auto launch_many(std::size_t count, actor_options const& options, Token&& token) {
    require_launchable({}, type_name<Behaviour>, options, count);
    return detail::operate<std::vector<actor_ref<Behaviour>>>(
        *this, std::forward<Token>(token), [this, count, options] {
          return result<std::vector<actor_ref<Behaviour>>>(launch_many<Behaviour>(count, options));
        });
  }
  /// One actor for each of `arguments`, which are copied.
  template <class Behaviour,
            detail::operation_token<void(error_code, std::vector<actor_ref<Behaviour>>)> Token>
  auto launch_many(std::span<typename Behaviour::arguments const> arguments, actor_options const& options,
                   Token&& token) {
    require_launchable({}, type_name<Behaviour>, options, arguments.size());
    return detail::operate<std::vector<actor_ref<Behaviour>>>(
        *this, std::forward<Token>(token),
        [this, all = std::vector(arguments.begin(), arguments.end()), options] {
          return result<std::vector<actor_ref<Behaviour>>>(launch_many<Behaviour>(all, options));
        });
  }

  /// The living actor with this name; not_found if there is none or it has another behaviour.
  template <class Behaviour>
  result<actor_ref<Behaviour>> find(std::string_view name) const {
    return ref<Behaviour>(find_untyped(name, type_name<Behaviour>));
  }
  /// The living actor with this name, of any behaviour; not_found if there is none. The ref describes
  /// the current module: after an upgrade, look the actor up again.
  result<any_ref> find_any(std::string_view name) const;
  /// The same by its id; actor_gone if its life has ended.
  result<any_ref> at(actor_id actor) const;
  /// The living actors in the order of their indices: at most `most`, starting at index `from`.
  std::vector<listed_actor> list(std::uint32_t from = 0, std::size_t most = ~std::size_t{0}) const;
  /// How much room for further actors is left on a device. Precondition: device < device_count()
  actor_room room(std::uint32_t device = 0) const;
  /// How many bytes of that an actor of this behaviour takes; 0 if the module has no such behaviour.
  std::uint64_t bytes_of_actor(std::string_view behaviour, actor_options const& options) const;
  /// One living actor, or actor_gone.
  result<listed_actor> listed(actor_id actor) const;
  /// The behaviours of the current module.
  std::vector<behaviour_info> const& behaviours() const noexcept;

  /// Cancels an ask of any_ref::ask: completes its handler with `cancelled`, unless it has already been called.
  void cancel(actor_id ask);
  /// Whether the ask is open.
  bool is_waiting(actor_id ask) const noexcept;

  /// Sends a copy of `m` every `period` until the returned timer is destroyed, or the actor has terminated. A copy that
  /// cannot be delivered, such as to a full mailbox, becomes a dead letter. Times that were missed, because the process
  /// stood still, are skipped. Throws std::invalid_argument for a period below shortest_period, or if `to` is an actor
  /// of another runtime.
  template <class Behaviour, message_type Message>
  requires takes<Behaviour, Message>
  [[nodiscard]] timer every(std::chrono::nanoseconds period, actor_ref<Behaviour> to, Message const& m,
                            tell_options options = {}) {
    require_own(to.mail(), to.id());
    return every_untyped(period, to.id(), type_id<Message>, std::as_bytes(std::span(&m, 1)), options);
  }

  // -- observation

  /// The counters of all actors and devices, read while they run.
  telemetry snapshot();
  /// The counters of the actors whose indices lie between `first` and `last`, in their order.
  std::vector<actor_snapshot> snapshot_of(std::uint32_t first, std::uint32_t last);
  /// The graphs of stages that work here.
  graph_reports& graphs() const noexcept;
  /// The last settings().trace_hops hops of traced messages.
  trace_log& traces() const noexcept;
  /// Calls `handler` with each dead letter, on the runtime's own thread, until the subscription is destroyed.
  [[nodiscard]] subscription on_dead_letter(std::function<void(dead_letter const&)> handler);
  /// The same for each failure of an actor, for what completion handlers and subscribers throw on threads of the
  /// runtime, and for each handler of an actor that runs longer than handler_limit_ms, which a build without telemetry
  /// (kernels/base/telemetry.hpp) does not detect. A completion handler or a subscriber that waits on the runtime's own
  /// thread for so long is reported on stderr at once, and here when it has returned. If `handler` itself throws,
  /// stderr says so once.
  [[nodiscard]] subscription on_failure_report(std::function<void(std::string const&)> handler);

  /// The same for each line that a handler logs (context::log) at settings().log_level or above. Lines that nobody
  /// subscribes to go to stderr. If handlers log faster than lines are delivered, the next line says how many were
  /// dropped.
  [[nodiscard]] subscription on_log(std::function<void(log_line const&)> handler);

  // -- devices and memory. Precondition: device < device_count()

  /// How many devices the runtime has.
  std::uint32_t device_count() const noexcept;
  /// A description of the device, for human readers.
  device_info info(std::uint32_t device = 0) const;
  /// Why this device was chosen.
  std::string const& reason(std::uint32_t device = 0) const noexcept;
  /// See runtime/base/guest.hpp. Null if all settings().guest_teams are in use, and for a device other than `cpu`.
  std::unique_ptr<guest> make_guest(std::uint32_t device = 0);
  /// The buffers that actors of this device can lease: in host memory for `cpu`, otherwise in the device's own memory.
  buffer_pool& buffers(std::uint32_t device = 0) noexcept;
  /// The buffers in host memory.
  buffer_pool& host_buffers() noexcept;
  /// The memory of host_buffers, for a buffer_exporter; null without settings().share_buffers.
  memfd_resource* shared_memory() noexcept;
  /// The memory for a unified_buffer between this program and the actors of that device.
  memory_pair memory(std::uint32_t device = 0) noexcept;
  /// The copies of unified buffers so far.
  transfer_counts transfers(std::uint32_t device = 0) const noexcept;

  /// The configuration that it runs with.
  config const& settings() const noexcept;
  /// The runtime's own thread, on which completion handlers run by default.
  boost::asio::any_io_executor executor();
  /// The thread on which operations with a completion token wait; completion handlers do not run there.
  boost::asio::any_io_executor operations();
  /// Stops the ring kernels within settings().stop_timeout_ms; pending asks complete with `stopped`. The report names
  /// team and actor if a team does not stop. Idempotent.
  stop_report stop();

  /// For the operations with their own headers.
  runtime_core& core() const noexcept { return *core_; }
  /// For `block`.
  friend own_threads const* threads_of(runtime const* rt) noexcept { return rt->threads(); }

 private:
  runtime(config settings, program const& p);
  runtime(config settings, program const& p, std::vector<chosen_device> chosen);
  template <class Behaviour>
  result<actor_ref<Behaviour>> ref(result<actor_id> const& id) const {
    if (!id) return id.error();
    return actor_ref<Behaviour>{mail_of(*id), *id};
  }
  template <class Behaviour>
  std::vector<actor_ref<Behaviour>> refs(std::vector<actor_id> const& ids) const {
    std::vector<actor_ref<Behaviour>> all;
    all.reserve(ids.size());
    for (auto const id : ids) all.emplace_back(mail_of(id), id);
    return all;
  }
  std::vector<actor_id> launch_many_untyped(std::string_view behaviour, std::size_t count,
                                            actor_options const& options,
                                            std::span<std::byte const> arguments,
                                            std::span<std::uint32_t const> capacities = {});
  /// Throws std::invalid_argument. `count`: 0 for one actor.
  void require_launchable(std::string const& name, std::string_view behaviour, actor_options const& options,
                          std::size_t count = 0) const;
  own_threads const* threads() const noexcept;
  [[noreturn]] void not_launched(error_code why, std::string_view behaviour) const;
  result<actor_id> find_untyped(std::string_view name, std::string_view behaviour) const;
  messenger& mail_of(actor_id actor) const noexcept;
  void require_own(messenger const& home, actor_id actor) const;
  timer every_untyped(std::chrono::nanoseconds period, actor_id to, std::uint32_t type,
                      std::span<std::byte const> payload, tell_options options);

  std::unique_ptr<runtime_core> core_;
};

}  // namespace rondo
