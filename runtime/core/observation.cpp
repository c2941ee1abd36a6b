#include "runtime/core/observation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "kernels/base/clock.hpp"

namespace rondo {

namespace {

/// For human readers.
char const* what_followed(failure_action action) noexcept {
  switch (action) {
    case failure_action::restarted:
      return "restarted";
    case failure_action::quarantined:
      return "its message was quarantined";
    case failure_action::stopped:
      return "stopped";
    case failure_action::escalated:
      return "escalated";
    case failure_action::left_to_parent:
      return "left to its parent";
  }
  return "?";
}

/// "lane 3 of ", of a team whose lanes run an actor each.
std::string lane_of(team_snapshot const& t) {
  return t.lane_plus_one == 0 ? std::string() : fmt::format("lane {} of ", t.lane_plus_one - 1);
}

}  // namespace

std::uint64_t observation::count_crossing() const {
  std::uint64_t all = 0;
  for (auto const& d : devices_) all += d.mail->count_orphans();
  return all;
}

telemetry observation::snapshot() {
  telemetry t;
  // Messages go from the host into mailboxes, and on from there: counted before and after the mailboxes, none of them
  // is in neither count.
  t.crossing = count_crossing();
  auto const before = read_past();
  t.retired = before.retired;
  for (std::uint32_t d = 0; d < devices_.size(); ++d) {
    auto& dev = *devices_[d].dev;
    // Read after `retired`: an actor counted there has left its cell, so none is counted twice. Without the lock,
    // because the device may first have to finish a checkpoint, which takes the lock.
    std::vector<actor_snapshot> actors;
    dev.read_actors(0, actors_.cells_used(d), actors);
    for (auto const& a : actors) {
      if (a.state == lifecycle::terminated || a.state == lifecycle::free) continue;
      auto const entry = actors_.find(actor_id{a.index, a.generation});
      t.actors.push_back({entry ? entry->name : std::string(), names_.of_behaviour(a.behaviour), d, a,
                          last_failure_of(a), entry ? now_ns() - entry->begun_ns : 0,
                          entry ? entry->handled_before : 0});
      t.live += a.totals;
      t.waiting += a.waiting;
    }
    t.devices.push_back({dev.info(), {}, dev.read_queues()});
    dev.read_teams(t.devices.back().teams);
  }
  t.crossing = std::max(t.crossing, count_crossing());
  t.asks_waiting = asks_.waiting();
  t.late_answers = asks_.late();
  t.dead_letters = read_past().dead_letters;
  return t;
}

std::vector<actor_snapshot> observation::snapshot_of(std::uint32_t first, std::uint32_t last) {
  std::vector<actor_snapshot> all, some;
  auto const one = [](std::uint32_t index) { return actor_id{index, 0}; };
  for (auto d = device_of(one(first)); d < devices_.size() && d <= device_of(one(last)); ++d) {
    auto const begin = d == device_of(one(first)) ? cell_of(one(first)) : 0;
    auto const used = actors_.cells_used(d);
    auto const end = d == device_of(one(last)) ? std::min(cell_of(one(last)) + 1, used) : used;
    if (begin >= end) continue;
    devices_[d].dev->read_actors(begin, end - begin, some);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::optional<actor_failure> observation::last_failure_of(actor_snapshot const& actor) const {
  if (actor.totals.failures == 0) return std::nullopt;
  std::lock_guard lock(mutex_);
  auto const at = last_failures_.find({actor.index, actor.generation});
  return at == last_failures_.end() ? std::nullopt : std::optional(at->second);
}

observation::past observation::read_past() const {
  std::lock_guard lock(mutex_);
  return past_;
}

void observation::set_past(past const& p) {
  std::lock_guard lock(mutex_);
  past_ = p;
}

/// One check for stuck handlers. A team that has not begun another message since the last check has run one handler for
/// too long. Checks do not allocate: their buffers are passed from one to the next.
struct observation::look {
  observation* of;
  std::chrono::milliseconds limit;
  std::vector<std::vector<team_snapshot>> before;  // by device
  std::vector<team_snapshot> now;

  void come_later() && {
    auto& timer = of->watch_timer_;
    timer.expires_after(limit);
    timer.async_wait(std::move(*this));
  }
  void operator()(boost::system::error_code ec) {
    if (ec) return;
    for (std::uint32_t d = 0; d < of->devices_.size(); ++d) {
      of->devices_[d].dev->read_teams(now);
      before[d].resize(now.size());
      for (std::size_t t = 0; t < now.size(); ++t)
        if (now[t].actor_plus_one != 0 && now[t].beats == before[d][t].beats &&
            now[t].actor_plus_one == before[d][t].actor_plus_one)
          of->report(fmt::format("{}{} has run actor '{}' for more than {} ms, in a handler of {}",
                                 lane_of(now[t]), of->names_.of_team(d, t),
                                 of->names_.of_cell(now[t].actor_plus_one - 1), limit.count(),
                                 of->names_.of_type(now[t].type)));
      before[d].swap(now);
    }
    std::move(*this).come_later();
  }
};

void observation::watch(std::chrono::milliseconds limit) {
  look first{this, limit, std::vector<std::vector<team_snapshot>>(devices_.size()), {}};
  std::size_t most = 0;
  for (auto const& d : devices_) most = std::max<std::size_t>(most, d.dev->shape().teams);
  first.now.reserve(most);
  for (auto& teams : first.before) teams.reserve(most);
  std::move(first).come_later();
}

void observation::on_failure(device_event const& r) {
  {
    std::lock_guard lock(mutex_);
    last_failures_[{r.actor.index, r.actor.generation}] = {r.reason, static_cast<failure_action>(r.detail),
                                                           r.body.header.type, now_ns()};
  }
  auto const type = r.body.header.type;
  auto const thrown = take_thrown(r.actor);
  // A handler may fail with the reason of another actor, whose exception is in that actor's own report.
  auto const why = r.reason == errc::exception_thrown && thrown.empty()
                       ? "it reported an exception that its own code did not throw"
                       : make_error_code(r.reason).message();
  report(fmt::format("actor '{}' ({}) failed{}{}: {}{}{}; {}", names_.of_actor(r.actor),
                     names_.of_behaviour(r.behaviour), type == 0 ? " at its start" : " in a handler of ",
                     names_.of_type(type), why, thrown.empty() ? "" : ": ", thrown,
                     what_followed(static_cast<failure_action>(r.detail))));
}

void observation::on_threw(device_event const& r) {
  std::string text(reinterpret_cast<char const*>(r.body.payload), r.body.bytes);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';  // reports are lines
  std::lock_guard lock(mutex_);
  thrown_.try_emplace({r.actor.index, r.actor.generation}, std::move(text));
}

void observation::on_logged(device_event const& r) {
  auto line = read_log_event(r);
  if (auto const entry = actors_.find(r.actor))
    line.actor_name = entry->name, line.behaviour = names_.of_behaviour(entry->behaviour);
  log_.take(std::move(line));
}

/// The text of the exception that made this actor fail; empty if there was none.
std::string observation::take_thrown(actor_id actor) {
  std::lock_guard lock(mutex_);
  auto const at = thrown_.extract({actor.index, actor.generation});
  return at.empty() ? std::string() : std::move(at.mapped());
}

void observation::on_thrown(char const* whose, char const* text) {
  report(fmt::format("{} threw an exception: {}", whose, text));
}

/// Not a report, which would come back to the same subscriber.
void observation::on_thrown_report(char const* text) {
  if (std::exchange(report_has_thrown_, true)) return;
  std::fprintf(stderr,
               "rondo: a subscriber of failure reports threw an exception: %s; this is said only once\n",
               text);
}

void observation::on_terminated(actor_id actor, actor_totals const& totals) {
  std::lock_guard lock(mutex_);
  last_failures_.erase({actor.index, actor.generation});
  thrown_.erase({actor.index, actor.generation});
  past_.retired += totals;
}

void observation::on_undelivered(actor_id to, std::uint32_t type, void const* payload, std::uint32_t bytes,
                                 errc why) {
  {
    std::lock_guard lock(mutex_);
    ++past_.dead_letters;
  }
  if (!dead_letters_.has_subscribers()) return;
  dead_letter letter{to, names_.of_actor(to), why, names_.of_type(type), {}};
  letter.body.header.type = type;
  letter.body.bytes = bytes;
  __builtin_memcpy(letter.body.payload, payload, bytes);
  dead_letters_.publish(std::move(letter));
}

void observation::on_hop(device_event const& r) {
  auto const& h = r.body.header;
  auto const tag = tag_behind(r.body.payload);
  bool const handled = r.kind == event_kind::handled;
  traces_.note({.trace = tag.trace,
                .hop = tag.hop,
                .parent = tag.parent,
                .handled = handled,
                .actor = r.actor,
                .actor_name = names_.of_actor(r.actor),
                .team = r.team,
                .type = h.type,
                .priority = h.priority,
                .attempt = static_cast<std::uint8_t>(h.attempts()),
                .outcome = r.reason,
                .sent_ns = r.detail - h.age_ns(r.detail),
                // In a batch, only the first message has its own begin time.
                .begun_ns = handled && tag.begun_ns != 0 ? tag.begun_ns : r.detail,
                .ended_ns = r.detail});
}

}  // namespace rondo
