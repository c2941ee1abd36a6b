// How a runtime looks at itself: snapshots, and the watchdog.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/runtime_core.hpp"

namespace rondo {

telemetry runtime_core::snapshot() {
  telemetry t;
  {
    std::lock_guard lock(pending_mutex_);
    t.retired = retired_;
  }
  for (std::uint32_t d = 0; d < devices_.size(); ++d) {
    auto& dev = *devices_[d].dev;
    // After `retired`: an actor that is counted there has left its cell, so none is counted twice. Without the lock: the
    // device may have to end a checkpoint first, which takes it.
    std::vector<actor_snapshot> actors;
    dev.read_actors(directory_->cells_used(d), actors);
    for (auto const& a : actors) {
      if (a.state == lifecycle::terminated || a.state == lifecycle::free) continue;
      auto const entry = directory_->find(actor_id{a.index, a.generation});
      auto failure = a.totals.failures == 0 ? std::nullopt : last_failures_.find({a.index, a.generation});
      t.actors.push_back(
          {entry ? entry->name : std::string(), name_of_behaviour(a.behaviour), d, a, std::move(failure)});
      t.live += a.totals;
      t.waiting += a.waiting;
    }
    t.devices.push_back({dev.info(), {}, dev.read_lanes()});
    dev.read_teams(t.devices.back().teams);
    t.crossing += devices_[d].mail->count_forwarded();
  }
  t.asks_waiting = asks_->waiting();
  t.late_answers = asks_->late();
  t.dead_letters = dead_letter_count_.load(memory_order::relaxed);  // relaxed: a statistic
  return t;
}

/// The watchdog: a team that has not begun another message since the last look runs one handler for too long. Looks allocate
/// nothing: what they compare goes from one to the next.
void runtime_core::watch() {
  struct look {
    runtime_core* of;
    std::vector<team_snapshot> now;

    void come_later() && {
      auto& timer = of->watch_timer_;
      timer.expires_after(std::chrono::milliseconds(of->settings_.handler_limit_ms));
      timer.async_wait(std::move(*this));
    }
    void operator()(boost::system::error_code ec) {
      if (ec) return;
      for (std::uint32_t d = 0; d < of->devices_.size(); ++d) {
        auto& before = of->devices_[d].watched;
        of->devices_[d].dev->read_teams(now);
        before.resize(now.size());
        for (std::size_t t = 0; t < now.size(); ++t)
          if (now[t].actor_plus_one != 0 && now[t].beats == before[t].beats &&
              now[t].actor_plus_one == before[t].actor_plus_one)
            of->failures_->publish(
                fmt::format("{} has run actor '{}' for more than {} ms, in a handler of {}",
                            of->name_of_team(d, t), of->name_of_index(now[t].actor_plus_one - 1),
                            of->settings_.handler_limit_ms, of->name_of_type(now[t].type)));
        before.swap(now);
      }
      std::move(*this).come_later();
    }
  };
  look first{this, {}};
  for (auto const& d : devices_)
    first.now.reserve(std::max<std::size_t>(first.now.capacity(), d.dev->shape().teams));
  for (auto& d : devices_) d.watched.reserve(first.now.capacity());
  std::move(first).come_later();
}

}  // namespace rondo
