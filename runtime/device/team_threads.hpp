// Runs a ring kernel on host threads: a thread per lane of each team. Shared by the devices `cpu` and
// `emulated`.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kernels/ring_kernel.hpp"
#include "runtime/device.hpp"

namespace rondo {

struct team_thread_options {
  std::uint32_t teams = 2;  // that take any actor; indices 0..teams
  std::uint32_t pinned_teams =
      0;  // that serve one actor each; the indices after them; started when first needed
  std::uint32_t lanes = 1;
  idle_policy idle;
  round_limits round;  // zeros: persistent
  bool pin_to_cores = false;
};

/// Binds the calling thread to a core (modulo the number of cores) and names it for debuggers.
void prepare_team_thread(std::string const& name, int core);

template <class Module>
class team_threads {
 public:
  team_threads(arena_ref arena, team_thread_options options)
      : options_(options), crew_(std::make_shared<crew>(arena, options)) {}

  /// Starts the pool teams, and the pinned ones that ran before. Precondition: stopped.
  void start(host_port const& host) {
    host_ = host;
    crew_->arena.header().stop.store(0, memory_order::relaxed);  // relaxed: no team yet
    for (std::uint32_t t = 0; t < options_.teams; ++t) start_team(t);
    for (auto t = options_.teams; t < options_.teams + options_.pinned_teams; ++t)
      if (crew_->arena.team(t).pinned_actor.load(memory_order::relaxed) != 0) start_team(t);
  }

  /// A pinned team without an actor, started; or none. Not thread-safe: the caller serializes launches.
  bool find_pinned_team(std::uint32_t& team) {
    for (team = options_.teams; team < options_.teams + options_.pinned_teams; ++team)
      if (crew_->arena.team(team).pinned_actor.load(memory_order::acquire) == 0) {
        if (!started_[team]) start_team(team);
        return true;
      }
    return false;
  }

  stop_report stop(std::chrono::nanoseconds limit) {
    crew_->arena.header().stop.store(1, memory_order::release);
    for (std::uint32_t t = 0; t < crew_->shared.size(); ++t) scheduler{crew_->arena}.ring_doorbell(t);
    std::unique_lock lock(crew_->mutex);
    stop_report report;
    report.stopped = crew_->changed.wait_for(lock, limit, [&] { return crew_->running == 0; });
    lock.unlock();
    if (!report.stopped) report.stuck = describe_running_teams();
    for (auto& thread : threads_)
      // A thread that hangs in a handler is left behind, and named in the report. The owner must then keep
      // the arena.
      report.stopped ? thread.join() : thread.detach();
    threads_.clear();
    started_.assign(started_.size(), false);
    return report;
  }

  std::vector<std::string> describe_running_teams() const {
    std::vector<std::string> lines;
    for (std::uint32_t t = 0; t < crew_->shared.size(); ++t) {
      auto const& status = crew_->arena.team(t);
      if (auto const actor = status.actor.load(memory_order::relaxed); actor != 0)
        lines.push_back("team " + std::to_string(t) + " runs actor " + std::to_string(actor - 1) +
                        ", message type " + std::to_string(status.type.load(memory_order::relaxed)));
    }
    return lines;
  }

 private:
  /// What threads share with their owner; outlives it when a handler hangs.
  struct crew {
    crew(arena_ref a, team_thread_options const& o) : arena(a), shared(o.teams + o.pinned_teams) {}
    arena_ref arena;
    std::vector<team_shared> shared;
    std::mutex mutex;
    std::condition_variable changed;
    std::uint32_t running = 0;
  };

  void start_team(std::uint32_t index) {
    started_.resize(options_.teams + options_.pinned_teams);
    started_[index] = true;
    for (std::uint32_t lane = 0; lane < options_.lanes; ++lane) {
      {
        std::lock_guard lock(crew_->mutex);
        ++crew_->running;
      }
      threads_.emplace_back([crew = crew_, host = host_, options = options_, index, lane] {
        prepare_team_thread("rondo-" + std::to_string(index) + "." + std::to_string(lane),
                            options.pin_to_cores ? static_cast<int>(index) : -1);
        auto idle = options.idle;
        idle.pinned_only = index >= options.teams;
        team const lanes{index, lane, options.lanes, crew->shared[index]};
        ring_kernel<Module> kernel{crew->arena, lanes, host, idle};
        do kernel.run(options.round);
        while (lanes.broadcast(!crew->arena.stopping()));
        std::lock_guard lock(crew->mutex);
        if (--crew->running == 0) crew->changed.notify_all();
      });
    }
  }

  team_thread_options options_;
  std::shared_ptr<crew> crew_;
  host_port host_;
  std::vector<std::thread> threads_;
  std::vector<bool> started_ = std::vector<bool>(options_.teams + options_.pinned_teams);
};

}  // namespace rondo
