#include "runtime/core/runtime_core.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "runtime/memory/arena_memory.hpp"
#include "runtime/messaging/blocking.hpp"
#include "runtime/messaging/deliver.hpp"
#include "runtime/os/handler_memory.hpp"
#include "runtime/os/prepare_thread.hpp"
#include "runtime/os/run_handlers.hpp"
#include "runtime/os/start_thread.hpp"
#include "runtime/state/actor_images.hpp"

namespace rondo {

namespace {

std::chrono::steady_clock::time_point when(std::uint64_t device_ns) {
  auto const now = now_ns();
  auto const left = device_ns > now ? device_ns - now : 0;
  // A far deadline is beyond the clock's range. The sweep that comes too early finds nothing, and sets the timer again.
  constexpr std::chrono::nanoseconds longest = std::chrono::days(1);
  return std::chrono::steady_clock::now() + std::min(std::chrono::nanoseconds(left), longest);
}

/// Names appear on terminals and in logs. Throws std::invalid_argument.
void require_printable(std::string_view name) {
  constexpr std::size_t longest = 255;
  if (name.size() > longest)
    throw std::invalid_argument(fmt::format(
        "launching an actor: its name has {} bytes; at most {} are allowed", name.size(), longest));
  auto const bad =
      std::ranges::find_if(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (bad != name.end())
    throw std::invalid_argument(
        fmt::format("launching an actor: byte {} of its name is the control character {:#04x}; use printable "
                    "characters",
                    bad - name.begin(), static_cast<unsigned char>(*bad)));
}

/// Throws std::invalid_argument.
void require_valid(std::string const& name, actor_options const& options, std::uint32_t capacity,
                   std::uint32_t device_count) {
  auto const refuse = [&](std::string const& why) {
    throw std::invalid_argument(fmt::format("launching '{}': {}", name, why));
  };
  if (capacity == 0) refuse("capacity is 0, but a mailbox holds at least 1 message");
  if (capacity > ticket_mask / 4)
    refuse(fmt::format("capacity {} is more than a mailbox can hold ({})", capacity, ticket_mask / 4));
  if (options.reserve.slots >= capacity)
    refuse(
        fmt::format("{} slots are reserved, but a mailbox with the capacity {} needs one for other messages",
                    options.reserve.slots, capacity));
  if (auto const tries = options.supervise.poison_after; tries == 0 || tries > max_attempts)
    refuse(fmt::format("poison_after is {}, but a message is tried 1 to {} times", tries, max_attempts));
  if (options.batch == 0 || options.batch > max_batch)
    refuse(fmt::format("batch is {}, but a batch handler gets 1 to {} messages at once", options.batch,
                       max_batch));
  if (options.device >= device_count)
    refuse(fmt::format("there is no device {}; this runtime has {}, counted from 0; list it in `device`",
                       options.device, device_count));
}

/// `many` are launched at once. Throws std::invalid_argument.
void require_no_parent(std::string_view what, actor_options const& options, bool many = false) {
  auto const refuse = [&](char const* why) {
    throw std::invalid_argument(fmt::format("launching {}'{}': {}", many ? "many " : "", what, why));
  };
  if (options.supervise.rule == on_failure::ask_parent)
    refuse("`ask_parent` is for actors that another one launches");
  if (many && options.pinned) refuse("a pinned actor has a team of its own; launch it alone");
}

/// Every `period`, `watching` posts a task to the thread of `watched`. If that has not run a period later, and the
/// thread has hardly run either, as one that is only busy has, calls `report`, and not again until the task has run.
/// Allocates nothing.
timer watch_handlers(boost::asio::io_context::executor_type const& watched,
                     boost::asio::any_io_executor const& watching, std::chrono::nanoseconds period,
                     std::function<void()> report) {
  struct pulse {
    std::atomic<bool> waits = false;  // a task
    thread_time thread;               // that of `watched`, once a task has run there
    handler_memory memory;            // of the task
  };
  return timer(watching, period,
               [watched, period, report = std::move(report), said = false, thread = thread_time(),
                ran = std::chrono::nanoseconds(), p = std::make_shared<pulse>()]() mutable {
                 // Acquire and release: the other members belong to the task while it waits. `thread` stays as it is
                 // then.
                 bool const waits = p->waits.load(std::memory_order_acquire);
                 if (!waits) thread = p->thread;
                 auto const now = thread.run_time();
                 bool const is_idle = now - std::exchange(ran, now) < period / 10;
                 if (waits) {
                   if (is_idle && !std::exchange(said, true)) report();
                   return true;
                 }
                 said = false;
                 p->waits.store(true, std::memory_order_relaxed);  // relaxed: posting the task publishes it
                 boost::asio::post(watched,
                                   boost::asio::bind_allocator(handler_allocator<void>(p->memory), [p] {
                                     p->thread = thread_time::of_this_thread();
                                     p->waits.store(false, std::memory_order_release);
                                   }));
                 return true;
               });
}

std::vector<arena_layout> arenas_of(device_set const& devices) {
  std::vector<arena_layout> arenas;
  for (auto const& d : devices) arenas.push_back(detail::plan_arena(d.dev->shape()));
  return arenas;
}

/// The GPU that one of them has. Throws config_error.
std::shared_ptr<kernel_player> player_of(std::vector<chosen_device> const& chosen, config const& settings) {
  std::shared_ptr<kernel_player> found;
  for (auto const& c : chosen) {
    if (!c.player) continue;
    if (found) throw config_error(setting_name(settings, "device") + ": one GPU may play kernels, not two");
    found = c.player;
  }
  if (found && settings.share_buffers)
    throw config_error(
        setting_name(settings, "share_buffers") +
        ": buffers that a GPU's driver has allocated cannot be shared with other processes: leave it "
        "out, or choose another device than opencl or metal");
  return found;
}

}  // namespace

// -- construction and destruction

runtime_core::runtime_core(config c, program const& p, std::vector<chosen_device> chosen)
    : settings_(std::move(c)),
      running_(&p),
      // Twice the cap, because exports of other buffers are copied there too; untouched pages cost nothing.
      shared_memory_(settings_.share_buffers
                         ? std::make_unique<memfd_resource>(2 * settings_.buffer_bytes_cap)
                         : nullptr),
      player_(player_of(chosen, settings_)),
      host_buffers_(buffer_pool_options{
          .cap_bytes = settings_.buffer_bytes_cap,
          .slots = settings_.buffer_slots,
          .upstream = player_          ? &player_->memory()
                      : shared_memory_ ? static_cast<std::pmr::memory_resource*>(shared_memory_.get())
                                       : std::pmr::new_delete_resource()}),
      asks_(settings_.asks, context_.get_executor()),
      traces_(settings_.trace_every, settings_.trace_hops,
              [this](trace_hop& h) {
                h.message = names_.of_type(h.type);
                h.bytes = names_.bytes_of(h.type);
                if (h.actor_name.empty()) h.actor_name = names_.of_actor(h.actor);
              }),
      devices_(std::move(chosen)),
      actors_(arenas_of(devices_)),
      captures_([this](actor_id id) { return names_.of_actor(id); }) {
  auto const spin_ns = settings_.polling ? ~0ull >> 1 : std::uint64_t{settings_.spin_us} * 1000;
  for (auto& d : devices_)
    d.mail = std::make_unique<messenger>(
        d.dev->mail(), d.dev->shape().actors, asks_, traces_, threads_, context_.get_executor(), spin_ns,
        [this](outgoing const& o, errc why) { not_forwarded(o, why); }, control_);
  asks_.on_nearer_deadline([this](std::uint64_t deadline_ns) {
    boost::asio::post(context_, [this, deadline_ns] { expect_deadline(deadline_ns); });
  });
  start_devices();
  if (with_telemetry && settings_.handler_limit_ms != 0)
    watched_.watch(std::chrono::milliseconds(settings_.handler_limit_ms));
  if (settings_.handler_limit_ms != 0)
    watch_own_threads(std::chrono::milliseconds(settings_.handler_limit_ms));
  auto const runs = [this] {
    prepare_thread("rondo-service", -1);
    own_threads::scope const own(&threads_);
    auto const report = [this](char const* text) { watched_.on_thrown("a completion handler", text); };
    run_handlers(context_, report);
    // A handler that was called before the stop may have begun an operation, which was refused: its handler is called,
    // too. With a limit, because some handlers try again for ever.
    context_.restart();
    auto const until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(settings_.stop_timeout_ms);
    for (bool more = true; more && std::chrono::steady_clock::now() < until;)
      call_caught([&] { more = context_.poll_one() != 0; }, report);
    if (itself_) bury(std::move(itself_));  // last: this thread has no other use of it
  };
  try {
    service_ = start_thread("the runtime's service", runs);
  } catch (...) {  // the devices report to this object
    for (auto& d : devices_) d.dev->stop(std::chrono::milliseconds(settings_.stop_timeout_ms));
    throw;
  }
}

/// Reports handlers that block the threads on which completion handlers run.
void runtime_core::watch_own_threads(std::chrono::milliseconds limit) {
  auto const text = [limit](char const* whose, char const* thread) {
    return fmt::format(
        "{} has waited for more than {} ms (handler_limit_ms) in a completion handler or a subscriber, and "
        "calls no other one until it returns. If it waits for what only this thread completes, such as a "
        "future that another handler sets, it waits for ever: use a callback or a coroutine there, or bind "
        "handlers that wait to an executor of their own (boost::asio::bind_executor). A debugger shows where "
        "it waits: the thread is '{}'",
        whose, limit.count(), thread);
  };
  watches_service_ = watch_handlers(context_.get_executor(), copier_.get_executor(), limit,
                                    [this, line = text("the runtime's own thread", "rondo-service")] {
                                      // At once: subscribers are called on that very thread, when it goes on.
                                      std::fprintf(stderr, "rondo: %s\n", line.c_str());
                                      watched_.report(line);
                                    });
  watches_copier_ = watch_handlers(
      copier_.get_executor(), context_.get_executor(), limit,
      [this, line = text("the runtime's thread for copies", "rondo-copier")] { watched_.report(line); });
}

void runtime_core::start_devices() {
  gate_->open = this;
  std::uint32_t started = 0;
  try {
    for (; started < devices_.size(); ++started)
      rondo::started("a device", [&] {
        if (auto* const packs = devices_[started].dev->packs())
          packs->serve(devices_[started].mail->waiting(), [gate = gate_](std::string const& line) {
            std::shared_lock lock(gate->mutex);
            if (gate->open != nullptr) gate->open->watched_.report(line);
          });
        devices_[started].dev->start(
            [gate = gate_, answers = &asks_, started](device_event const& r) {
              // The path of every answer. No lock: the table outlives all reporting threads.
              if (r.kind == event_kind::reply) {
                answers->complete(r.body.header.reply_to, r.reason, &r.body);
                return;
              }
              std::shared_lock lock(gate->mutex);
              if (gate->open != nullptr) gate->open->on_event(started, r);
            },
            host_buffers_.table(), &captures_, &threads_);
      });
  } catch (...) {
    while (started-- > 0) devices_[started].dev->stop(std::chrono::milliseconds(settings_.stop_timeout_ms));
    throw;
  }
}

void runtime_core::retire(std::unique_ptr<runtime_core>& core) {
  if (core->threads_.are_of_parent()) return keep_for_ever(std::move(core));
  core->watches_service_.cancel();  // from here on its own thread may have to wait
  core->watches_copier_.cancel();
  auto const report = core->stop();
  for (auto const& line : report.stuck)
    std::fprintf(stderr, "rondo: did not stop within %u ms (stop_timeout_ms): %s\n",
                 core->settings_.stop_timeout_ms, line.c_str());
  boost::asio::post(core->context_, [&core = *core] {
    {
      std::lock_guard const lock(core.operating_);
      core.operates_ = false;
    }
    if (core.operator_) core.operator_->finish();
    core.deadline_timer_.cancel();
    core.requests_.stop();
    core.watched_.stop_watching();
    core.context_.stop();  // posted, so that the handlers completed by `stop` are called first
  });
  core->work_.reset();
  if (core->service_.get_id() == std::this_thread::get_id()) {
    core->service_.detach();
    auto& of = *core;
    of.itself_ = std::move(core);
    return;
  }
  core->service_.join();
  bury(std::move(core));
}

/// The core's own thread has ended, or ends with this call.
void runtime_core::bury(std::unique_ptr<runtime_core> core) {
  if (core->stop().stopped) return;
  // A handler is still running in this memory and may still report.
  {
    std::lock_guard lock(core->gate_->mutex);
    core->gate_->open = nullptr;
  }
  core->copier_.stop();
  if (core->recording_) core->recording_->flush();
  keep_for_ever(std::move(core));
}

stop_report runtime_core::stop() {
  if (threads_.are_of_parent())
    return {.stopped = false, .stuck = {"a fork has left its threads behind, in the parent"}, .teams = {}};
  std::call_once(stopped_once_, [this] {
    close(errc::stopped);
    auto const until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(settings_.stop_timeout_ms);
    for (std::uint32_t d = 0; d < devices_.size(); ++d) {
      auto report = devices_[d].dev->stop(until - std::chrono::steady_clock::now());
      stop_report_.stopped = stop_report_.stopped && report.stopped;
      for (auto const& t : report.teams) stop_report_.stuck.push_back(names_.of_busy_team(d, t, "hangs in"));
      std::ranges::move(report.stuck, std::back_inserter(stop_report_.stuck));
    }
    end_pending(errc::stopped);
    if (!stop_report_.stopped) return;
    std::unique_lock const held(launching_);  // no device reports any longer
    if (recording_) close_recording(*std::exchange(recording_, nullptr));
  });
  return stop_report_;
}

/// Completes everything that waits for an answer or for room, and refuses later requests; the first reason stays.
void runtime_core::close(errc reason) {
  for (auto& d : devices_) reason = d.mail->close(reason);
  asks_.close(reason);
}

/// Completes everything that waits for a device, and refuses later requests.
void runtime_core::end_pending(errc reason) {
  for (auto& d : devices_)
    if (d.buffers) d.buffers->on_home_gone();
  control_.end(reason);
}

void runtime_core::close_recording(recorder& last) {
  try {
    last.close();
  } catch (std::runtime_error const& e) {
    watched_.report(e.what());
  }
}

// -- actors

result<actor_id> runtime_core::launch(std::string name, std::string_view behaviour,
                                      actor_options const& options, std::span<std::byte const> arguments) {
  require_no_parent(name, options);
  std::shared_lock const held(launching_);  // also keeps the module unchanged
  return launch_held(std::move(name), behaviour, options, arguments);
}

/// The behaviour's index. Throws std::invalid_argument if it cannot be launched so; `count`: of the arguments.
result<std::uint16_t> runtime_core::require_launchable(std::string const& name, std::string_view behaviour,
                                                       actor_options const& options,
                                                       std::span<std::byte const> arguments,
                                                       std::size_t count) const {
  require_printable(name);
  require_valid(name, options, capacity_of(options), devices_.size());
  if (closed()) return closed_for();
  auto const& known = behaviours();
  auto const found = std::ranges::find(known, behaviour, &behaviour_info::name);
  if (found == known.end()) return errc::unknown_behaviour;
  if (!arguments.empty() && arguments.size() != count * found->arguments.size())
    throw std::invalid_argument(
        fmt::format("launching '{}': {} bytes of arguments were given, but {} takes {}", name,
                    arguments.size() / count, behaviour, found->arguments.size()));
  if (!devices_.can_host(*found, options.device))
    throw std::invalid_argument(fmt::format(
        "launching '{}': a host thread replays the graph of a captured actor, so the actor must be on a "
        "cpu device, whatever device its graph is for: list one in `device` (\"cpu,cuda:0\")",
        name));
  return static_cast<std::uint16_t>(found - known.begin());
}

void runtime_core::require_possible(std::string const& name, std::string_view behaviour,
                                    actor_options const& options, std::size_t count) const {
  require_no_parent(count != 0 ? behaviour : name, options, count != 0);
  static_cast<void>(require_launchable(name, behaviour, options, {}, std::max<std::size_t>(count, 1)));
}

boost::asio::any_io_executor runtime_core::operations() {
  std::lock_guard const lock(operating_);
  if (!operates_) return context_.get_executor();
  if (!operator_)
    operator_.emplace("rondo-waits", copying_,
                      [this](char const* text) { watched_.on_thrown("a completion handler", text); });
  return operator_->get_executor();
}

void runtime_core::record_launch(launch_spec const& spec, std::span<std::byte const> arguments) {
  auto const& behaviour = behaviours()[spec.behaviour];
  if (recording_ && behaviour.holds_addresses && !behaviour.saved_apart)
    watched_.report(fmt::format("the recording leaves an actor out: {}",
                                why_not_savable(names_.of_actor(spec.id), behaviour)));
  if (recording_ && !behaviour.holds_addresses)  // before it can handle anything
    recording_->append(recorded_launch{.actor = spec.id,
                                       .name = names_.of_actor(spec.id),
                                       .behaviour = spec.behaviour,
                                       .capacity = spec.capacity,
                                       .reserve = spec.reserve,
                                       .pinned = spec.pinned,
                                       .supervise = spec.supervise,
                                       .arguments = {arguments.begin(), arguments.end()}});
}

bool runtime_core::is_recorded(actor_id actor) const {
  if (!recording_) return false;
  auto const b = actors_.behaviour_of(actor);
  return !b || !behaviours()[*b].holds_addresses;
}

void runtime_core::forget_launch(actor_id actor) {
  if (is_recorded(actor)) recording_->append(recorded_end{actor});
  actors_.remove(actor);
}

result<actor_id> runtime_core::launch_held(std::string name, std::string_view behaviour,
                                           actor_options const& options,
                                           std::span<std::byte const> arguments) {
  auto const b = require_launchable(name, behaviour, options, arguments, 1);
  if (!b) return b.error();
  auto const& info = behaviours()[*b];
  auto spec = actors_.add(std::move(name), *b, info.state_bytes, options, capacity_of(options));
  if (!spec) return spec.error();
  auto const& given = arguments.empty() ? std::span<std::byte const>(info.arguments) : arguments;
  record_launch(*spec, given);
  auto refused = errc::ok;
  try {
    refused = devices_[options.device].launch(*spec, arguments_for(*spec, info, given));
  } catch (...) {  // its pinned team has no thread
    forget_launch(spec->id);
    throw;
  }
  if (refused == errc::ok) return spec->id;
  forget_launch(spec->id);
  return refused;
}

result<std::vector<actor_id>> runtime_core::launch_many(std::string_view behaviour, std::size_t count,
                                                        actor_options const& options,
                                                        std::span<std::byte const> arguments,
                                                        std::span<std::uint32_t const> capacities) {
  std::shared_lock const held(launching_);
  require_no_parent(behaviour, options, true);
  auto const [least, most] = std::ranges::minmax_element(capacities);
  for (auto const extreme : {least, most})
    if (extreme != capacities.end()) require_valid({}, options, *extreme, devices_.size());
  if (count == 0) return std::vector<actor_id>();
  auto const b = require_launchable({}, behaviour, options, arguments, count);
  if (!b) return b.error();
  auto const& info = behaviours()[*b];
  auto const given = [&](std::size_t i) {
    auto const bytes = info.arguments.size();
    return arguments.empty() ? std::span<std::byte const>(info.arguments)
                             : arguments.subspan(i * bytes, bytes);
  };
  if (actors_.free_cells(options.device) < count) return errc::actor_limit;
  errc refused = errc::ok;
  std::vector<actor_id> ids;
  ids.reserve(count);
  prefer_large_pages(ids.data(), count * sizeof(actor_id));
  std::array<launch_spec, 64> some;
  std::array<std::uint32_t, some.size()> same;
  same.fill(capacity_of(options));
  auto how = options;
  if (!capacities.empty()) how.capacity = *most;  // that each is given one is listed
  while (refused == errc::ok && ids.size() < count) {
    auto const first = ids.size();
    auto const specs = std::span(some).first(std::min(some.size(), count - first));
    refused = actors_.add_many(
        *b, info.state_bytes, how,
        capacities.empty() ? std::span<std::uint32_t const>(same) : capacities.subspan(first, specs.size()),
        specs);
    if (refused != errc::ok) break;
    for (std::size_t i = 0; recording_ && i < specs.size(); ++i) record_launch(specs[i], given(first + i));
    device::arguments_of with;
    if (!info.arguments.empty())
      with = [&](std::size_t i) { return arguments_for(specs[i], info, given(first + i)); };
    auto const launched = devices_[options.device].launch_many(specs, with);
    for (std::size_t i = 0; i < launched; ++i) ids.push_back(specs[i].id);
    for (auto i = launched; i < specs.size(); ++i) forget_launch(specs[i].id);
    if (launched < specs.size()) refused = closed() ? closed_for() : errc::device_lost;
  }
  if (refused == errc::ok) return ids;
  for (auto const id : ids) control_.start(id, control_discard, [](auto const&) {});
  return refused;
}

void runtime_core::end_and_wait(actor_id actor) {
  if (threads_.would_deadlock())
    throw boost::system::system_error(errc::would_deadlock, "waiting for the end of an actor");
  detail::rendezvous<errc> ended;
  control_.start(actor, control_discard, [&ended](inspection_outcome const& o) { ended.put(o.reason); });
  ended.take();
}

memory_pair runtime_core::memory(std::uint32_t device) noexcept {
  auto& d = devices_[device];
  return {&host_buffers_,         &buffers(device), d.transfers.get(),
          copier_.get_executor(), d.pinned.get(),   &copying_};
}

// -- safepoints

bool runtime_core::at_safepoint(arena_access access,
                                std::function<void(std::vector<arena_ref> const&)> const& use) {
  if (blocks_safepoint()) return false;
  return devices_.at_safepoint(std::chrono::milliseconds(settings_.stop_timeout_ms), access, use);
}

std::string runtime_core::why_no_safepoint() const {
  if (blocks_safepoint()) return make_error_code(errc::would_deadlock).message();
  for (auto const& d : devices_)
    if (d.dev->lost()) return make_error_code(errc::device_lost).message();
  auto const busy = fmt::format("{}", fmt::join(names_.busy_teams("runs"), "; "));
  return fmt::format(
      "no safepoint was reached within {} ms (`stop_timeout_ms`): {}; nothing has changed, try again",
      settings_.stop_timeout_ms, busy.empty() ? "handlers finished too late" : busy);
}

bool runtime_core::set_journal(std::uint32_t bits, std::function<void()> const& also) {
  return at_safepoint(arena_access::writes, [&](std::vector<arena_ref> const& arenas) {
    // Relaxed: the safepoint orders it.
    for (auto const& arena : arenas) arena.header().journal.store(bits, memory_order::relaxed);
    also();
  });
}

// -- time

timer runtime_core::every(std::chrono::nanoseconds period, actor_id to, std::uint32_t type,
                          std::span<std::byte const> payload, tell_options options) {
  return timer(context_.get_executor(), period,
               [this, to, type, options, payload = std::vector<std::byte>(payload.begin(), payload.end())] {
                 // Nothing that it sends can arrive any more.
                 if (closed() || !actors_.behaviour_of(to)) return false;
                 auto header = plain_header(options);
                 header.type = type;
                 send_or_bury(to, header, payload.data(), static_cast<std::uint32_t>(payload.size()));
                 return true;
               });
}

void runtime_core::expect_deadline(std::uint64_t deadline_ns) {
  if (when(deadline_ns) >= deadline_timer_.expiry() &&
      deadline_timer_.expiry() >= std::chrono::steady_clock::now())
    return;
  deadline_timer_.expires_at(when(deadline_ns));
  deadline_timer_.async_wait([this](boost::system::error_code ec) {
    if (!ec) sweep_deadlines();
  });
}

void runtime_core::sweep_deadlines() {
  auto const nearest = asks_.expire(now_ns());
  if (nearest == 0) return;
  deadline_timer_.expires_at(when(nearest));
  deadline_timer_.async_wait([this](boost::system::error_code ec) {
    if (!ec) sweep_deadlines();
  });
}

}  // namespace rondo
