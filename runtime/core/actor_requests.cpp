#include "runtime/core/actor_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/bind_executor.hpp>

#include "runtime/core/runtime_core.hpp"
#include "runtime/core/timer.hpp"

namespace rondo {

namespace {

std::chrono::nanoseconds time_of(std::uint64_t us) {
  constexpr auto most = std::chrono::duration_cast<std::chrono::microseconds>(longest_period).count();
  return std::chrono::microseconds(static_cast<std::int64_t>(std::min<std::uint64_t>(us, most)));
}

/// "worker" of "shop::worker<int>".
std::string_view plain_name(std::string_view behaviour) {
  behaviour = behaviour.substr(0, behaviour.find('<'));
  auto const colon = behaviour.rfind(':');
  return colon == behaviour.npos ? behaviour : behaviour.substr(colon + 1);
}

}  // namespace

actor_requests::actor_requests(runtime_core& core) : core_(core), pause_(core.context()) {}

void actor_requests::take(device_event const& request) {
  auto const lock = std::lock_guard(arrivals_);
  if (request.kind == event_kind::set_timer || request.kind == event_kind::bond ||
      request.kind == event_kind::launch_child)
    ends_matter_ = true;
  queue(request);
}

void actor_requests::on_failed(device_event const& report) {
  auto const action = static_cast<failure_action>(report.detail);
  auto const lock = std::lock_guard(arrivals_);
  if (action == failure_action::stopped || action == failure_action::escalated)
    stopped_for_[report.actor] = report.reason;
  else if (action == failure_action::left_to_parent || (action == failure_action::restarted && ends_matter_))
    queue(report);
}

void actor_requests::on_terminated(actor_id actor) {
  auto const lock = std::lock_guard(arrivals_);
  auto const why = stopped_for_.extract(actor);
  if (!ends_matter_ || stopped_) return;
  ending_.insert(actor);
  queue({.kind = event_kind::terminated, .reason = why ? why.mapped() : errc::ok, .actor = actor});
}

void actor_requests::stop() {
  auto const lock = std::lock_guard(mutex_);
  auto const arriving = std::lock_guard(arrivals_);
  stopped_ = true;
  waiting_.clear();
  ending_.clear();
  timers_.clear();
  by_owner_.clear();
}

/// Precondition: the caller holds arrivals_.
void actor_requests::queue(device_event const& r) {
  if (stopped_) return;
  waiting_.push_back(r);
  if (!std::exchange(draining_, true)) boost::asio::post(core_.context(), [this] { drain(); });
}

/// One request at a time, so that a checkpoint finds each either in the queue or carried out. After some of them,
/// others have the thread.
void actor_requests::drain() {
  for (int n = 0; n < 64; ++n) {
    std::shared_lock const launching(core_.launching(), std::try_to_lock);
    if (!launching) {  // whoever holds it may wait for this thread
      pause_.expires_after(std::chrono::milliseconds(1));
      return pause_.async_wait([this](boost::system::error_code ec) {
        if (!ec) drain();
      });
    }
    auto const lock = std::lock_guard(mutex_);
    device_event r;
    {
      auto const arriving = std::lock_guard(arrivals_);
      if (waiting_.empty()) {
        draining_ = false;
        return;
      }
      r = waiting_.front();
      waiting_.pop_front();
      if (r.kind == event_kind::terminated) ending_.erase(r.actor);
    }
    carry_out(r);
  }
  boost::asio::post(core_.context(), [this] { drain(); });
}

void actor_requests::carry_out(device_event const& r) {
  switch (r.kind) {
    case event_kind::send_later:
    case event_kind::set_timer:
      return start_timer(r);
    case event_kind::cancel_timer:
      return cancel(r.actor, r.behaviour);
    case event_kind::ask_within:
      return ask_within(r);
    case event_kind::bond:
      return change_bond(r);
    case event_kind::launch_child:
      return launch_child(r);
    case event_kind::end_actor:
      return end(r.body.header.reply_to, errc::ok, static_cast<control_bits>(r.detail));
    case event_kind::restart_child:
      if (bonds_.contains({r.body.header.reply_to, role::is_child_of, r.actor}))
        restart(r.body.header.reply_to, r);
      return;
    case event_kind::actor_failed:
      return has_failed(r);
    case event_kind::terminated:
      return has_ended(r.actor, r.reason);
    default:
      return;
  }
}

void actor_requests::hold() {
  auto const lock = std::lock_guard(mutex_);
  held_ = true;
}
void actor_requests::release() {
  auto const lock = std::lock_guard(mutex_);
  held_ = false;
}

// -- timers

void actor_requests::start_timer(device_event const& r) {
  bool const has_key = r.kind == event_kind::set_timer;
  timer_request const how = has_key ? timer_request{r.detail} : timer_request::of(r.detail, false);
  if (has_key) {
    cancel(r.actor, r.behaviour);
    if (!is_alive(r.actor)) return;  // it has ended since
  }
  auto const period = std::max<std::chrono::nanoseconds>(
      time_of(how.us()), how.repeats() ? shortest_period : std::chrono::microseconds(1));
  auto const number = ++last_number_;
  auto const [t, is_new] =
      timers_.emplace(number, set_timer{.owner = has_key ? r.actor : actor_id{},
                                        .key = r.behaviour,
                                        .has_key = has_key,
                                        .repeats = how.repeats(),
                                        .to = has_key ? r.body.header.reply_to : r.actor,
                                        .body = r.body,
                                        .period = period,
                                        .clock = boost::asio::steady_timer(core_.context(), period)});
  if (has_key) {
    t->second.body.header.reply_to = {};
    by_owner_[{r.actor, r.behaviour}] = number;
  }
  arm(number, t->second);
}

void actor_requests::arm(std::uint64_t number, set_timer& t) {
  t.clock.async_wait([this, number](boost::system::error_code ec) {
    if (!ec) on_due(number);
  });
}

void actor_requests::on_due(std::uint64_t number) {
  auto const lock = std::lock_guard(mutex_);
  auto const found = timers_.find(number);
  if (found == timers_.end()) return;  // it ended while this was on its way
  auto& t = found->second;
  if ((t.has_key && !t.repeats) || held_)
    core_.forward(t.to, t.body);
  else
    core_.send_or_bury(t.to, t.body.header, t.body.payload, t.body.bytes);
  if (!t.repeats || core_.closed() || !is_alive(t.to)) {
    if (t.has_key) by_owner_.erase({t.owner, t.key});
    timers_.erase(found);
    return;
  }
  t.clock.expires_at(next_due(t.clock.expiry(), t.period, std::chrono::steady_clock::now()));
  arm(number, t);
}

void actor_requests::cancel(actor_id owner, std::uint32_t key) {
  auto const found = by_owner_.find({owner, key});
  if (found == by_owner_.end()) return;
  timers_.erase(found->second);
  by_owner_.erase(found);
}

void actor_requests::end_timers_of(actor_id owner) {
  auto const first = by_owner_.lower_bound({owner, 0});
  auto last = first;
  for (; last != by_owner_.end() && last->first.first == owner; ++last) timers_.erase(last->second);
  by_owner_.erase(first, last);
}

// -- asks

void actor_requests::ask_within(device_event const& r) {
  auto const asker = r.body.header.reply_to;
  auto const type = r.body.header.type, correlation = r.body.header.correlation;
  auto const refuse = [=, this](errc why) { tell(asker, rejected{why, type}, correlation, true); };
  if (r.reason != errc::ok) return refuse(r.reason);  // of a checkpoint
  if (!core_.devices().has_device_of(r.actor)) return refuse(errc::actor_gone);
  asks_.push_back({asker, correlation, type});
  auto const open = std::prev(asks_.end());
  outgoing request{r.actor, r.body};
  request.body.header.flags = 0;
  core_.devices().mail_of(r.actor).ask(
      std::move(request),
      {.timeout = time_of(std::max<std::uint64_t>(r.detail, 1)), .wait_for_room = true, .trace = 0},
      boost::asio::bind_executor(core_.context().get_executor(), [=, this](answer a) {
        auto const lock = std::lock_guard(mutex_);
        asks_.erase(open);
        if (a.reason != errc::ok) return refuse(a.reason);
        a.body.header.correlation = correlation;
        a.body.header.reply_to = {};
        a.body.header.flags = flag_is_reply;
        core_.forward(asker, a.body);
      }));
}

// -- bonds

bool actor_requests::is_alive(actor_id actor) const {
  return core_.devices().has_device_of(actor) && core_.actors().behaviour_of(actor).has_value();
}
bool actor_requests::takes(actor_id actor, std::uint32_t type) const {
  auto const b = core_.devices().has_device_of(actor) ? core_.actors().behaviour_of(actor) : std::nullopt;
  return b && std::ranges::find(core_.behaviours()[*b].messages, type, &message_info::id) !=
                  core_.behaviours()[*b].messages.end();
}
/// Whether its end is still in the queue.
bool actor_requests::is_ending(actor_id actor) const {
  auto const arriving = std::lock_guard(arrivals_);
  return ending_.contains(actor);
}
std::vector<actor_requests::bond> actor_requests::bonds_of(actor_id actor) const {
  auto const first = bonds_.lower_bound({actor, role{}, actor_id{0, 0}});
  auto last = first;
  while (last != bonds_.end() && std::get<0>(*last) == actor) ++last;
  return {first, last};
}

std::vector<actor_id> actor_requests::others_of(actor_id actor, role of) const {
  std::vector<actor_id> all;
  for (auto b = bonds_.lower_bound({actor, of, actor_id{0, 0}});
       b != bonds_.end() && std::get<0>(*b) == actor && std::get<1>(*b) == of; ++b)
    all.push_back(std::get<2>(*b));
  return all;
}

template <class Body>
void actor_requests::tell(actor_id to, Body const& body, std::uint32_t correlation, bool is_reply) {
  message m;
  m.header.type = type_id<Body>;
  m.header.correlation = correlation;
  if (is_reply) m.header.flags = flag_is_reply;
  m.bytes = sizeof body;
  __builtin_memcpy(m.payload, &body, sizeof body);
  core_.forward(to, m);
}

void actor_requests::tie(actor_id one, role of, actor_id other) {
  bonds_.insert({one, of, other});
  bonds_.insert({other, other_side(of), one});
}
void actor_requests::untie(actor_id one, role of, actor_id other) {
  bonds_.erase({one, of, other});
  bonds_.erase({other, other_side(of), one});
}

void actor_requests::change_bond(device_event const& r) {
  auto const self = r.actor, other = r.body.header.reply_to;
  auto const lasts = [&] { return is_alive(other) || is_ending(other); };
  switch (static_cast<bond_request>(r.detail)) {
    case bond_request::watch:
      if (!bonds_.contains({self, role::watches, other}) && !lasts())
        return tell(self, ended{other, errc::actor_gone});
      return tie(self, role::watches, other);
    case bond_request::unwatch:
      return untie(self, role::watches, other);
    case bond_request::link:
      return lasts() ? tie(self, role::is_linked_to, other) : end(self, errc::actor_gone);
    case bond_request::unlink:
      return untie(self, role::is_linked_to, other);
    case bond_request::parent:
      return tie(self, role::is_parent_of, other);
  }
}

void actor_requests::launch_child(device_event const& r) {
  child_request what;
  __builtin_memcpy(&what, r.body.payload, sizeof what);
  if (!is_alive(r.actor)) return;
  bool const listens = takes(r.actor, type_id<launched>);
  auto const report = [&](std::string const& why) {
    core_.watched().report(
        fmt::format("actor '{}' could not launch a child: {}", core_.names().of_actor(r.actor), why));
  };
  auto const outcome = [&](actor_id who, errc reason) {
    if (listens)
      tell(r.actor, launched{who, reason}, r.body.header.correlation, true);
    else if (reason != errc::ok && reason != errc::wrong_state)
      report(make_error_code(reason).message());
  };
  auto const& known = core_.behaviours();
  auto const b = std::ranges::find_if(
      known, [&](behaviour_info const& i) { return detail::fnv1a(i.name) == r.body.header.type; });
  if (b == known.end()) return outcome({}, errc::unknown_behaviour);
  actor_options options{
      .device = device_of(r.actor), .pinned = what.options.pinned, .supervise = what.options.supervise};
  if (what.options.capacity != 0) options.capacity = what.options.capacity;
  if (options.supervise.rule == on_failure::escalate) options.supervise.rule = on_failure::ask_parent;
  auto const parent = core_.names().of_actor(r.actor);
  auto const arguments =
      std::span(what.arguments, std::min<std::size_t>(what.argument_bytes, max_argument_bytes));
  actor_id child;
  auto refused = errc::name_taken;
  while (refused == errc::name_taken) {
    auto name = parent.empty() ? std::string()
                               : fmt::format("{}/{}-{}", parent, plain_name(b->name), ++children_[r.actor]);
    if (name.size() > 255) name.clear();
    try {
      auto const made = core_.launch_held(std::move(name), b->name, options, arguments);
      refused = made ? errc::ok : static_cast<errc>(made.error().value());
      if (made) child = *made;
    } catch (std::invalid_argument const& e) {
      report(e.what());
      refused = errc::wrong_state;
    }
  }
  if (refused != errc::ok) return outcome({}, refused);
  tie(r.actor, role::is_parent_of, child);
  outcome(child, errc::ok);
}

/// `request`: to be made again if the device has no room for the signal.
void actor_requests::restart(actor_id child, device_event const& request) {
  if (!is_alive(child)) return;
  fresh_start_of(child);
  auto const refused = core_.devices().home_of(child).dev->signal(
      child, std::uint32_t{control_construct} | std::uint32_t{control_activate});
  if (refused == errc::device_busy) retry(request);
}

void actor_requests::end(actor_id actor, errc why, control_bits how) {
  if (!is_alive(actor)) return;
  if (why != errc::ok) {
    auto const arriving = std::lock_guard(arrivals_);
    stopped_for_.emplace(actor, why);
  }
  bool const drains = how == control_drain;
  auto const refused =
      core_.devices().home_of(actor).dev->signal(actor, drains ? control_drain : control_discard);
  if (refused != errc::device_busy) return;
  device_event again{.kind = event_kind::end_actor, .detail = drains ? control_drain : control_discard};
  again.body.header.reply_to = actor;
  retry(again);
}

/// The device had no room for a signal.
void actor_requests::retry(device_event const& r) {
  auto const arriving = std::lock_guard(arrivals_);
  queue(r);
}

/// What belonged to its last state ends: its timers, and its children.
void actor_requests::fresh_start_of(actor_id actor) {
  end_timers_of(actor);
  for (auto const child : others_of(actor, role::is_parent_of)) end(child, errc::terminated);
}

void actor_requests::has_failed(device_event const& r) {
  if (static_cast<failure_action>(r.detail) == failure_action::restarted) return fresh_start_of(r.actor);
  if (core_.replay()) return restart(r.actor, r);  // the recording has what its parent decided
  for (auto const parent : others_of(r.actor, role::is_child_of))
    if (takes(parent, type_id<child_failed>)) return tell(parent, child_failed{r.actor, r.reason});
  end(r.actor, r.reason);
}

void actor_requests::has_ended(actor_id actor, errc why) {
  end_timers_of(actor);
  children_.erase(actor);
  for (auto const& [one, of, other] : bonds_of(actor)) {
    untie(one, of, other);
    if (of == role::is_watched_by) tell(other, ended{actor, why});
    if (of == role::is_linked_to && why != errc::ok) end(other, why);
    if (of == role::is_parent_of) end(other, errc::terminated);
  }
}

}  // namespace rondo
