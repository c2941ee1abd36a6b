#include "runtime/runtime_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "runtime/blocking.hpp"
#include "runtime/deliver.hpp"

namespace rondo {

namespace {

std::chrono::steady_clock::time_point when(std::uint64_t device_ns) {
  auto const now = now_ns();
  auto const left = device_ns > now ? device_ns - now : 0;
  return std::chrono::steady_clock::now() + std::chrono::nanoseconds(left);
}

constexpr bool changes_activity(control_bits bits) noexcept {
  return bits == control_activate || bits == control_deactivate;
}

/// Names are shown on terminals and in logs. Throws std::invalid_argument.
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

}  // namespace

runtime_core::runtime_core(config settings, program const& p, std::vector<chosen_device> chosen)
    : settings_(std::move(settings)),
      program_(&p),
      // Twice: what is exported from elsewhere is copied there, too; pages cost nothing until they are touched.
      shared_memory_(settings_.share_buffers
                         ? std::make_unique<memfd_resource>(2 * settings_.buffer_bytes_cap)
                         : nullptr),
      host_buffers_(std::make_unique<buffer_pool>(buffer_pool_options{
          .cap_bytes = settings_.buffer_bytes_cap,
          .upstream = shared_memory_ ? static_cast<std::pmr::memory_resource*>(shared_memory_.get())
                                     : std::pmr::new_delete_resource()})),
      asks_(std::make_unique<completions>(settings_.asks, context_.get_executor())),
      traces_(std::make_unique<trace_log>(settings_.trace_every, settings_.trace_hops)),
      dead_letters_(std::make_unique<hub<dead_letter>>(context_.get_executor())),
      failures_(std::make_unique<hub<std::string>>(context_.get_executor())),
      timers_(std::make_unique<timer_service>(context_.get_executor())) {
  auto const spin_ns = settings_.polling ? ~0ull >> 1 : std::uint64_t{settings_.spin_us} * 1000;
  std::vector<arena_layout> arenas;
  for (auto& c : chosen) {
    arenas.push_back(detail::plan_arena(c.dev->shape()));
    auto& d = devices_.emplace_back(hosted{std::move(c.dev), std::move(c.reason)});
    d.mail = std::make_unique<messenger>(*d.dev, *asks_, *traces_, context_.get_executor(), spin_ns,
                                         [this](outgoing const& o, errc why) { not_forwarded(o, why); });
    if (auto* const home = d.dev->home(); home != nullptr) {
      d.region = std::make_unique<region_resource>(home->base(), home->bytes());
      d.buffers = std::make_unique<buffer_pool>(
          buffer_pool_options{.cap_bytes = home->bytes(),
                              .slots = home->slots(),
                              .where = place::device,
                              .upstream = d.region.get(),
                              .home = home,
                              .home_number = static_cast<std::uint32_t>(devices_.size())});
      if (home->host_memory_bytes() != 0)
        d.pinned = std::make_unique<buffer_pool>(buffer_pool_options{.cap_bytes = home->host_memory_bytes(),
                                                                     .where = place::pinned_host,
                                                                     .upstream = &home->host_memory()});
    }
  }
  directory_ = std::make_unique<directory>(arenas);
  graphs_ = std::make_unique<actor_graphs>([names = directory_.get()](actor_id id) {
    auto const entry = names->find(id);
    return entry ? entry->name : std::string();
  });
  asks_->on_nearer_deadline([this](std::uint64_t deadline_ns) {
    boost::asio::post(context_, [this, deadline_ns] {
      if (when(deadline_ns) < deadline_timer_.expiry() ||
          deadline_timer_.expiry() < std::chrono::steady_clock::now()) {
        deadline_timer_.expires_at(when(deadline_ns));
        deadline_timer_.async_wait([this](boost::system::error_code ec) {
          if (!ec) sweep_deadlines();
        });
      }
    });
  });
  gate_->open = this;
  std::uint32_t started = 0;
  try {
    for (; started < devices_.size(); ++started)
      devices_[started].dev->start(
          [gate = gate_, asks = asks_.get(), started](host_record const& r) {
            // The way of every answer: the table outlives whoever reports, so no lock.
            if (r.kind == record_kind::reply) {
              asks->complete(r.body.header.reply_to, r.reason, &r.body);
              return;
            }
            std::shared_lock lock(gate->mutex);
            if (gate->open != nullptr) gate->open->on_record(started, r);
          },
          host_buffers_->table(), graphs_.get());
  } catch (...) {
    while (started-- > 0) devices_[started].dev->stop(std::chrono::milliseconds(settings_.stop_timeout_ms));
    throw;
  }
  if (with_telemetry && settings_.handler_limit_ms != 0) watch();
  service_ = std::thread([this] {
    prepare_team_thread("rondo-service", -1);
    context_.run();
  });
}

runtime_core::~runtime_core() {
  auto const report = stop();
  for (auto const& line : report.stuck) std::fprintf(stderr, "rondo: did not stop: %s\n", line.c_str());
  boost::asio::post(context_, [this] {
    deadline_timer_.cancel();
    watch_timer_.cancel();
    context_.stop();  // here, behind the handlers of what the stop has ended: each is to be called
  });
  work_.reset();
  service_.join();
  if (report.stopped) return;
  // A handler still runs in this memory and may still report: it keeps what it needs, for ever.
  {
    std::lock_guard lock(gate_->mutex);
    gate_->open = nullptr;
  }
  using kept = std::tuple<std::vector<hosted>, std::unique_ptr<completions>, std::unique_ptr<trace_log>,
                          std::unique_ptr<buffer_pool>, std::unique_ptr<actor_graphs>,
                          std::unique_ptr<directory>, std::unique_ptr<memfd_resource>>;
  static std::mutex mutex;
  static auto& abandoned = *new std::list<kept>;
  std::lock_guard lock(mutex);
  abandoned.emplace_back(std::move(devices_), std::move(asks_), std::move(traces_), std::move(host_buffers_),
                         std::move(graphs_), std::move(directory_), std::move(shared_memory_));
}

stop_report runtime_core::stop() {
  std::call_once(stopped_once_, [this] {
    close(errc::stopped);
    auto const until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(settings_.stop_timeout_ms);
    for (auto& d : devices_) {
      auto report = d.dev->stop(until - std::chrono::steady_clock::now());
      stop_report_.stopped = stop_report_.stopped && report.stopped;
      std::ranges::move(report.stuck, std::back_inserter(stop_report_.stuck));
    }
    if (!stop_report_.stopped) {
      for (auto& line : busy_teams("hangs in")) stop_report_.stuck.push_back(std::move(line));
    }
    end_pending(errc::stopped);
    if (stop_report_.stopped) close_recording();
  });
  return stop_report_;
}

/// Ends all that waits for an answer or for room, and has what follows refused; the first reason stays.
void runtime_core::close(errc reason) {
  for (auto& d : devices_) reason = d.mail->close(reason);
  asks_->close(reason);
}

/// Completes what waits for a device, and has what follows refused.
void runtime_core::end_pending(errc reason) {
  std::vector<answer_handler> controls;
  std::vector<inspection_handler> inspections;
  {
    std::lock_guard lock(pending_mutex_);
    if (ended_ == errc::ok) ended_ = reason;
    for (auto& p : pending_controls_) controls.push_back(std::move(p.handler));
    for (auto& p : pending_inspections_) inspections.push_back(std::move(p.handler));
    pending_controls_.clear();
    pending_inspections_.clear();
  }
  for (auto& d : devices_)
    if (d.buffers) d.buffers->on_home_gone();
  for (auto& h : controls) deliver_later(executor(), std::move(h), answer{reason, {}});
  for (auto& h : inspections) deliver_later(executor(), std::move(h), inspection_outcome{reason, {}});
}

// -- actors

result<actor_id> runtime_core::try_launch_untyped(std::string name, std::string_view behaviour,
                                                  actor_options const& options) {
  auto const capacity = options.capacity.value_or(settings_.default_capacity);
  require_printable(name);
  if (capacity == 0)
    throw std::invalid_argument(
        fmt::format("launching '{}': capacity is 0, but a mailbox holds at least 1 message", name));
  if (capacity > ticket_mask / 4)
    throw std::invalid_argument(fmt::format(
        "launching '{}': capacity {} is more than a mailbox can hold ({})", name, capacity, ticket_mask / 4));
  if (auto const tries = options.supervise.poison_after; tries == 0 || tries > max_attempts)
    throw std::invalid_argument(
        fmt::format("launching '{}': poison_after is {}, but a message is tried 1 to {} times", name, tries,
                    max_attempts));
  if (options.device >= devices_.size())
    throw std::invalid_argument(
        fmt::format("launching '{}': device {} was asked for, and this runtime has {}, counted from 0; list "
                    "it in `device`",
                    name, options.device, devices_.size()));
  if (closed()) return closed_for();
  std::shared_lock const launching(launching_);  // the module stays the same, too
  auto const& known = behaviours();
  auto const found = std::ranges::find(known, behaviour, &behaviour_info::name);
  if (found == known.end()) return errc::not_found;
  if (!can_live_on(*found, options.device))
    throw std::invalid_argument(fmt::format(
        "launching '{}': the graph of a captured actor is replayed by a thread of the host, so the actor "
        "lives "
        "on a device cpu, whatever device its graph is for: list one in `device` (\"cpu,cuda:0\")",
        name));
  auto const b = static_cast<std::uint16_t>(found - known.begin());
  auto spec = directory_->add(std::move(name), b, found->state_bytes, options, capacity);
  if (!spec) return spec.error();
  auto const id = spec->id;
  if (recorder_)  // before it can handle anything
    recorder_->append(recorded_launch{.actor = id,
                                      .name = name_of_actor(id),
                                      .behaviour = b,
                                      .capacity = capacity,
                                      .pinned = options.pinned,
                                      .supervise = options.supervise});
  if (auto const refused = devices_[options.device].dev->launch(*spec); refused != errc::ok) {
    if (recorder_) recorder_->append(recorded_end{id});
    directory_->remove(id);
    return refused;
  }
  return id;
}

void runtime_core::record(actor_graphs::recording const& what, std::uint32_t device) {
  if (device >= devices_.size())
    throw std::invalid_argument(fmt::format(
        "recording a graph for '{}': device {} was asked for, and this runtime has {}, counted from 0",
        what.actor, device, devices_.size()));
  graphs_->record(what, devices_[device].dev->graphs(), memory(device));
}

void runtime_core::start_control(actor_id actor, control_bits bits, answer_handler handler) {
  auto ended = errc::ok;
  bool sent = true;
  {
    // Registered first: the actor may answer before the signal returns.
    std::lock_guard lock(pending_mutex_);
    ended = ended_;
    // One at a time changes an actor between active and deactivated: its record says which state was reached, and not
    // for whom; a signal that was thought to be carried out would come as a surprise later.
    sent = !changes_activity(bits) || std::ranges::none_of(pending_controls_, [&](pending_control const& p) {
      return p.actor == actor && changes_activity(p.awaited);
    });
    if (ended == errc::ok) pending_controls_.push_back({actor, bits, std::move(handler), sent});
  }
  if (ended != errc::ok) return deliver_later(executor(), std::move(handler), answer{ended, {}});
  if (sent) send_control(actor, bits);
}

errc runtime_core::signal(actor_id actor, control_bits bits) {
  return directory_->find(actor) ? devices_[device_of(actor)].dev->signal(actor, bits) : errc::actor_gone;
}

void runtime_core::send_control(actor_id actor, control_bits bits) {
  auto const refused = signal(actor, bits);
  if (refused == errc::ok) return;
  {
    std::unique_lock lock(pending_mutex_);
    auto const p = std::ranges::find_if(pending_controls_, [&](pending_control const& x) {
      return x.actor == actor && x.awaited == bits && x.sent;
    });
    if (p == pending_controls_.end()) return;
    auto failed = std::move(p->handler);
    pending_controls_.erase(p);
    lock.unlock();
    deliver_later(executor(), std::move(failed), answer{refused, {}});
  }
  if (changes_activity(bits)) send_next_control(actor);
}

void runtime_core::send_next_control(actor_id actor) {
  std::unique_lock lock(pending_mutex_);
  auto const next = std::ranges::find_if(
      pending_controls_, [&](pending_control const& p) { return p.actor == actor && !p.sent; });
  if (next == pending_controls_.end()) return;
  next->sent = true;
  auto const bits = next->awaited;
  lock.unlock();
  // Not here: this may be the device's own thread, which must not wait for room on its way down.
  boost::asio::post(context_, [this, actor, bits] { send_control(actor, bits); });
}

void runtime_core::end_and_wait(actor_id actor) {
  detail::rendezvous<errc> ended;
  start_control(actor, control_discard, [&ended](answer const& a) { ended.put(a.reason); });
  ended.take();
}

void runtime_core::start_inspection(actor_id actor, inspection_handler handler) {
  auto ended = errc::ok;
  {
    std::lock_guard lock(pending_mutex_);
    ended = ended_;
    if (ended == errc::ok) pending_inspections_.push_back({actor, std::move(handler)});
  }
  if (ended != errc::ok) return deliver_later(executor(), std::move(handler), inspection_outcome{ended, {}});
  auto const refused = signal(actor, control_inspect);
  if (refused != errc::ok) {
    std::unique_lock lock(pending_mutex_);
    auto const p =
        std::ranges::find_if(pending_inspections_, [&](auto const& i) { return i.actor == actor; });
    if (p == pending_inspections_.end()) return;
    auto failed = std::move(p->handler);
    pending_inspections_.erase(p);
    lock.unlock();
    deliver_later(executor(), std::move(failed), inspection_outcome{refused, {}});
  }
}

// -- time

timer runtime_core::every(std::chrono::nanoseconds period, actor_id to, std::uint32_t type,
                          std::span<std::byte const> payload, tell_options options) {
  return timers_->every(
      period, [this, to, type, options, payload = std::vector<std::byte>(payload.begin(), payload.end())] {
        auto header = plain_header(options);
        header.type = type;
        auto const bytes = static_cast<std::uint32_t>(payload.size());
        auto const refused = mail_of(to).try_post_apart(to, header, payload.data(), bytes);
        if (refused != errc::ok) undelivered(to, type, payload.data(), bytes, refused);
      });
}

void runtime_core::sweep_deadlines() {
  auto const nearest = asks_->expire(now_ns());
  if (nearest == 0) return;
  deadline_timer_.expires_at(when(nearest));
  deadline_timer_.async_wait([this](boost::system::error_code ec) {
    if (!ec) sweep_deadlines();
  });
}

}  // namespace rondo
