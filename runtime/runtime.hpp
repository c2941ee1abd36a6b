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

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/any_ref.hpp"
#include "runtime/config.hpp"
#include "runtime/device_report.hpp"
#include "runtime/events.hpp"
#include "runtime/inspection.hpp"
#include "runtime/listed_actor.hpp"
#include "runtime/program.hpp"
#include "runtime/telemetry.hpp"
#include "runtime/timer.hpp"

namespace rondo {

template <class Module>
struct use_t {};
/// Names the module that a runtime runs.
template <class Module>
inline constexpr use_t<Module> use{};

/// How an actor is terminated: with its waiting mail handled first, or dead-lettered.
enum class termination { drain, discard };

// Whoever calls a function that has to do with one of these includes its header.
class buffer_pool;     // runtime/memory/buffer_pool.hpp
struct chosen_device;  // runtime/device/make_device.hpp
class memfd_resource;  // runtime/sharing/memfd_resource.hpp
struct memory_pair;    // runtime/memory/unified_buffer.hpp
struct replay_report;  // runtime/replayer.hpp
class runtime_core;
class stream;            // runtime/graph/stream.hpp
struct trace_hop;        // runtime/trace_log.hpp
struct transfer_counts;  // runtime/memory/unified_buffer.hpp

class runtime {
 public:
  /// Starts the devices that `settings` asks for. Throws config_error, std::runtime_error, std::system_error.
  template <class Module>
  explicit runtime(use_t<Module>, config settings = {})
      : runtime(std::move(settings), program_of<Module>()) {}
  /// The same on devices that the caller has made for `settings` and `Module`, each for its place in the list.
  template <class Module>
  runtime(use_t<Module>, config settings, std::vector<chosen_device> chosen)
      : runtime(std::move(settings), program_of<Module>(), std::move(chosen)) {}
  /// Stops; see `stop`.
  ~runtime();
  runtime(runtime const&) = delete;
  runtime& operator=(runtime const&) = delete;

  // -- actors

  /// Throws boost::system::system_error with name_taken, actor_limit, out_of_memory or stopped, and
  /// std::invalid_argument for a capacity of 0, a device that the runtime has not, or a name of more than 255 bytes or with
  /// control characters. An empty name makes an actor that only its ref reaches.
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
    auto const id = find_untyped(name, type_name<Behaviour>);
    if (!id) return id.error();
    return actor_ref<Behaviour>{mail_of(*id), *id};
  }
  /// The living actor of this name, or of this id, whatever its behaviour; not_found or actor_gone when there is none. The ref
  /// knows the module that runs at present: look again after an upgrade.
  result<any_ref> find_any(std::string_view name) const;
  result<any_ref> at(actor_id actor) const;
  /// Those that live, by index: at most `most`, the first of at least `from`. Or one of them; actor_gone.
  std::vector<listed_actor> list(std::uint32_t from = 0, std::size_t most = ~std::size_t{0}) const;
  result<listed_actor> listed(actor_id actor) const;
  /// Ends an ask of any_ref::ask, whose handler is called here and gets `cancelled`, unless it has been called before.
  void cancel(actor_id ask);
  bool is_waiting(actor_id ask) const noexcept;
  /// Of the module that runs at present.
  std::vector<behaviour_info> const& behaviours() const noexcept;

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
          start_inspection(id, inspection_handler(detail::unpacked<decltype(handler)>{std::move(handler)}));
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
    record_untyped(std::move(actor), device, sizeof(request), sizeof(reply),
                   [&work](stream& s, std::byte const* in, std::byte* out) {
                     work(s, reinterpret_cast<request const*>(in), reinterpret_cast<reply*>(out));
                   });
  }

  // -- time

  /// Sends a copy of `m` every `period` until the returned timer goes. What cannot be delivered is a dead
  /// letter.
  template <class Behaviour, message_type Message>
  requires takes<Behaviour, Message>
  [[nodiscard]] timer every(std::chrono::nanoseconds period, actor_ref<Behaviour> to, Message const& m,
                            tell_options options = {}) {
    return every_untyped(period, to.id(), type_id<Message>, std::as_bytes(std::span(&m, 1)), options);
  }

  // -- looking

  telemetry snapshot();
  /// The hops of one trace, or of all for 0, in the order in which they ended; of the last settings().trace_hops.
  std::vector<trace_hop> traces(std::uint64_t trace = 0) const;
  /// Hops that were kept no longer.
  std::uint64_t forgotten_hops() const;
  /// A number for tell_options::trace and ask_options::trace.
  std::uint64_t new_trace() noexcept;
  /// Calls `handler` with each dead letter, on the runtime's own thread, until the subscription goes.
  [[nodiscard]] subscription on_dead_letter(std::function<void(dead_letter const&)> handler);
  /// Calls `handler` with each failure of an actor, and with each handler that runs longer than
  /// handler_limit_ms; but nobody looks for those in a build without telemetry (kernels/telemetry.hpp).
  [[nodiscard]] subscription on_failure_report(std::function<void(std::string const&)> handler);
  /// See runtime/guest.hpp; null beyond settings().guest_teams, and for a device that is not `cpu`.
  std::unique_ptr<guest> make_guest(std::uint32_t device = 0);
  std::uint32_t device_count() const noexcept;
  /// Precondition, also of `reason`: device < device_count().
  device_info info(std::uint32_t device = 0) const;
  /// Why this device was chosen.
  std::string const& reason(std::uint32_t device = 0) const noexcept;
  config const& settings() const noexcept;
  /// The buffers that actors of this device can lease: in the host's memory for `cpu`, else in the device's own.
  buffer_pool& buffers(std::uint32_t device = 0) noexcept;
  buffer_pool& host_buffers() noexcept;
  /// What host_buffers lie in, for a buffer_exporter; null without settings().share_buffers.
  memfd_resource* shared_memory() noexcept;
  /// For a unified_buffer between this program and the actors of that device.
  memory_pair memory(std::uint32_t device = 0) noexcept;
  /// Copies of unified buffers between the host and that device so far.
  transfer_counts transfers(std::uint32_t device = 0) const noexcept;
  boost::asio::any_io_executor executor();

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
  /// What was written reaches the file: for who may be killed. Otherwise 64 KiB come together first. False when the file does
  /// not hold everything, and will not.
  bool flush_recording();
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
  runtime(config settings, program const& p);
  runtime(config settings, program const& p, std::vector<chosen_device> chosen);
  result<actor_id> find_untyped(std::string_view name, std::string_view behaviour) const;
  messenger& mail_of(actor_id actor) const noexcept;
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
  void start_inspection(actor_id actor, inspection_handler handler);
  void record_untyped(std::string actor, std::uint32_t device, std::size_t request_bytes,
                      std::size_t reply_bytes,
                      std::function<void(stream&, std::byte const*, std::byte*)> const& work);
  timer every_untyped(std::chrono::nanoseconds period, actor_id to, std::uint32_t type,
                      std::span<std::byte const> payload, tell_options options);
  void upgrade_to(program const& next);

  std::unique_ptr<runtime_core> core_;
};

}  // namespace rondo
