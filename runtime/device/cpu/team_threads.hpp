// The threads that run a ring kernel on a `cpu` device: each team is one thread with one lane.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/device/device.hpp"
#include "runtime/device/team_program.hpp"
#include "runtime/os/prepare_thread.hpp"
#include "runtime/os/start_thread.hpp"

namespace rondo {

struct team_thread_options {
  std::uint32_t teams = 2;         // teams that take any actor; they have the first indices
  std::uint32_t pinned_teams = 0;  // teams that serve one actor each; the next indices; started on demand
  std::uint32_t guest_teams = 0;   // teams of program threads; the last indices
  idle_policy idle;
  round_limits round;         // zeros: persistent
  bool pin_to_cores = false;  // pin team n to the n-th core that the process may use, modulo their number
};

class team_threads {
 public:
  /// Cores for pinning are from the calling thread's affinity mask.
  team_threads(team_program const& program, arena_ref arena, team_thread_options options)
      : program_(program),
        options_(options),
        cores_(options.pin_to_cores ? allowed_cores() : std::vector<int>()),
        crew_(std::make_shared<crew>(arena, options)),
        threads_(crew_->ends.size()) {}

  /// Starts the pool teams, and the teams of pinned actors. Precondition: stopped. Throws no_thread if a thread
  /// cannot be started; `stop` then ends the others.
  void start(host_port const& host) {
    host_ = host;
    runs_ = true;
    crew_->arena.header().stop.store(0, memory_order::relaxed);  // relaxed: no team yet
    start_missing_teams();
  }

  /// The threads that are started from now on are some of `owner`.
  void set_owner(own_threads const* owner) noexcept { owner_ = owner; }
  /// Sets the code that teams run from their next start on. Precondition: stopped or paused.
  void set_program(team_program const& program) noexcept { program_ = program; }

  /// Finds a pinned team without an actor and starts it. False if there is none. Not thread-safe: the caller serializes
  /// launches.
  bool find_pinned_team(std::uint32_t& team) {
    for (team = options_.teams; team < options_.teams + options_.pinned_teams; ++team)
      if (crew_->arena.team(team).pinned_actor.load(memory_order::acquire) == 0) {
        if (!threads_[team].joinable()) start_team(team);
        return true;
      }
    return false;
  }

  stop_report stop(std::chrono::nanoseconds limit) {
    runs_ = false;
    stop_report report;
    report.stopped = all_end(limit);
    if (!report.stopped) report.teams = running_teams();
    for (auto& thread : threads_) {
      if (!thread.joinable()) continue;
      // A thread that hangs in a handler is detached and named in the report. The owner must then keep
      // the arena.
      report.stopped ? thread.join() : thread.detach();
    }
    return report;
  }

  /// Ends all teams' threads; `start` restarts them. False if a handler does not return within `limit`: its
  /// team then continues as before, and the others are restarted.
  bool pause(std::chrono::nanoseconds limit) {
    if (all_end(limit)) {
      for (auto& thread : threads_)
        if (thread.joinable()) thread.join();
      return true;
    }
    if (!runs_) return false;  // a team hung when it was stopped
    std::vector<std::uint32_t> ended;
    {
      std::lock_guard lock(crew_->mutex);
      // Under the mutex, under which teams decide to end: from now on none does.
      crew_->arena.header().stop.store(0, memory_order::relaxed);  // relaxed: nothing is read through it
      for (std::uint32_t t = 0; t < threads_.size(); ++t)
        if (crew_->ends[t]) ended.push_back(t);
    }
    for (auto const t : ended) threads_[t].join();
    start_missing_teams();
    return false;
  }

  /// The teams that are in a handler. Relaxed loads: only a report.
  std::vector<stuck_team> running_teams() const {
    std::vector<stuck_team> running;
    for (std::uint32_t t = 0; t < crew_->ends.size(); ++t) {
      auto const& status = crew_->arena.team(t);
      if (auto const actor = status.actor.load(memory_order::relaxed); actor != 0)
        running.push_back({t, actor - 1, status.type.load(memory_order::relaxed)});
    }
    return running;
  }

 private:
  /// Data that threads share with their owner; outlives the owner if a handler hangs.
  struct crew {
    crew(arena_ref a, team_thread_options const& o) : arena(a), ends(o.teams + o.pinned_teams) {}
    arena_ref arena;
    std::mutex mutex;
    std::condition_variable changed;
    std::uint32_t running = 0;  // threads; guarded by mutex, like `ends`
    std::vector<bool> ends;     // teams that saw the stop word and end

    /// Decides, between two rounds, whether team `t` ends.
    bool decide_to_end(std::uint32_t t) {
      if (!arena.stopping()) return false;
      std::lock_guard lock(mutex);
      return ends[t] = arena.stopping();
    }
  };

  /// Tells all threads to end. False if one does not within `limit`.
  bool all_end(std::chrono::nanoseconds limit) {
    crew_->arena.header().stop.store(1, memory_order::release);
    for (std::uint32_t t = 0; t < crew_->ends.size(); ++t) scheduler{crew_->arena}.ring_doorbell(t);
    std::unique_lock lock(crew_->mutex);
    return crew_->changed.wait_for(lock, limit, [&] { return crew_->running == 0; });
  }

  void start_missing_teams() {
    for (std::uint32_t t = 0; t < threads_.size(); ++t) {
      bool const needed =
          t < options_.teams || crew_->arena.team(t).pinned_actor.load(memory_order::relaxed) != 0;
      if (needed && !threads_[t].joinable()) start_team(t);
    }
  }

  /// Throws no_thread if the system has none left.
  void start_team(std::uint32_t index) {
    int const core = cores_.empty() ? -1 : cores_[index % cores_.size()];
    std::lock_guard const counting(crew_->mutex);  // the thread does not end before it is counted
    crew_->ends[index] = false;
    threads_[index] = start_thread("a team", [program = program_, crew = crew_, host = host_,
                                              options = options_, index, core, owner = owner_] {
      prepare_thread("rondo-" + std::to_string(index), core);
      own_threads::scope const own(owner);
      auto idle = options.idle;
      idle.pinned_only = index >= options.teams;
      program.run(crew->arena, index, host, idle, options.round, [&] { return crew->decide_to_end(index); });
      std::lock_guard lock(crew->mutex);
      if (--crew->running == 0) crew->changed.notify_all();
    });
    ++crew_->running;
  }

  team_program program_;
  team_thread_options options_;
  std::vector<int> cores_;  // teams are pinned to them in turn; empty: no pinning
  std::shared_ptr<crew> crew_;
  host_port host_;
  own_threads const* owner_ = nullptr;
  bool runs_ = false;                 // between start and stop
  std::vector<std::thread> threads_;  // by team; not joinable: not started
};

}  // namespace rondo
