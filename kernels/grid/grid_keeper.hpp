// The keeper of a grid: carries out the host's requests, publishes a heartbeat, copies counters out. Only the keeper
// decides when teams stand still and when they leave, so requests, ends of rounds, and queries cannot interfere.
//
// Threads: one team of the device (a warp on a GPU); all of its lanes call each function.
// Ordering: the edges of stop_word.hpp with the teams, and those of grid.hpp with the host.
//
// Invariants
//  K1 The teams are told to stand still only after the I/O team does, so no thread writes to the arena at a safepoint.
//  K2 A request to pause is acknowledged once all teams stand still for it. They stand still until the next request; if
//     that is a request to end, they leave without running again.
//  K3 A round ends when all teams reach its end together; while one does not, the others go on.
//  K4 Once told to leave, teams leave. A request that comes later is for the next grid.
#pragma once

#include "kernels/grid/grid.hpp"

namespace rondo {

template <class Bus = prompt_bus>
class grid_keeper {
 public:
  RONDO_HD grid_keeper(grid<Bus> const& g, team const& t) noexcept
      : grid_(g),
        arena_(g.arena),
        team_(t),
        answered_(g.control->answered.load(memory_order::relaxed)) {}  // relaxed: the keeper's own word

  /// Returns when the grid has ended or `given_up()` is true. `wake_io` wakes the I/O team if it sleeps.
  template <class WakeIo, class GivenUp>
  RONDO_HD void run(WakeIo wake_io, GivenUp given_up) {
    auto& bell = grid_.state->keeper_bell;
    for (;;) {
      auto const seen =
          bell.load(memory_order::acquire);  // before the turn: callers publish before they ring
      if (given_up() || !turn(wake_io)) return;
      wait_word(bell, seen, tries_again_ns_ != 0 ? patience_ns_ : 1'000'000'000);
    }
  }

  /// Writes a report of what each team is doing. Each query does so too.
  RONDO_HD void report_teams() const noexcept {
    for (auto t : lane_range{grid_.teams(), team_.lane(), team_.lanes()})
      grid_.reports[t].write(read_team(arena_, t));
  }

 private:
  static constexpr std::uint64_t reports_every_ns = 10'000'000;  // each sends a few bytes per team
  // On a GPU, a busy actor can publish faster than it can be read.
  static constexpr std::uint32_t tries_per_actor = 8;
  enum class phase { running, io_stops, teams_stop, still, leaving };

  /// One iteration of the loop. False when the grid has ended.
  template <class WakeIo>
  RONDO_HD bool turn(WakeIo wake_io) {
    if (team_.leader()) grid_.control->beat.add_single_writer(1);
    // Requests first: a query takes time.
    if (!team_.broadcast(team_.leader() && obey(wake_io))) return false;
    answer();
    if (team_.broadcast(team_.leader() && is_time_to_report())) report_teams();
    return true;
  }

  /// Periodically, so that a fault report shows what ran shortly before. Not while the host may write to the arena.
  RONDO_HD bool is_time_to_report() noexcept {
    auto const now = now_ns();
    if (phase_ == phase::still || now - reported_ns_ < reports_every_ns) return false;
    reported_ns_ = now;
    return true;
  }

  RONDO_HD void answer() {
    auto& control = *grid_.control;
    // Acquire: the host has finished reading the previous page.
    auto const query =
        team_.broadcast(team_.leader() ? control.query.load(memory_order::acquire) : std::uint64_t{0});
    if (query == answered_) return;
    auto const actors = control.query_actors.load(memory_order::relaxed);  // relaxed: published by the query
    for (auto i : lane_range{actors, team_.lane(), team_.lanes()}) {
      auto const index = arena_.shape().first_actor + static_cast<std::uint32_t>(query) + i;
      grid_.page[i] = is_used(arena_, index) ? read_actor(arena_, index, tries_per_actor) : actor_snapshot{};
    }
    report_teams();
    team_.sync();
    answered_ = query;
    if (team_.leader()) control.answered.store(query, memory_order::release);  // the edge `page`
  }

  template <class WakeIo>
  RONDO_HD bool obey(WakeIo wake_io) {
    auto& control = *grid_.control;
    auto& state = *grid_.state;
    auto& header = arena_.header();
    if (phase_ == phase::leaving) {
      // Relaxed: what the teams have counted came with their answers (the edge `halt`).
      if (state.ended.load(memory_order::relaxed) != grid_.teams() + 1) return true;
      control.dealt.store(state.dealt.load(memory_order::relaxed),
                          memory_order::relaxed);  // published by the grid's end
      return false;
    }
    if (auto const request = control.request.load(memory_order::acquire);
        request != request_) {  // the edge `request`
      request_ = request;
      // Nobody runs in between.
      if (phase_ == phase::still && kind_of_request(request) == request_kind::end) {
        control.acknowledged.store(request, memory_order::release);
        return leave(), true;
      }
      resume();
    }
    auto const kind = kind_of_request(request_);
    switch (phase_) {
      case phase::running:
        if (kind == request_kind::run && !round_ends()) break;
        if ((header.halts += 2) == 0) header.halts = 2;
        halt_ = header.halts;
        // Relaxed, both: the request publishes `last`, the stop word io_until.
        state.io_until.store(kind == request_kind::pause ? control.last.load(memory_order::relaxed) : 0,
                             memory_order::relaxed);
        tell_to(state.io_stop, halt_);
        wake_io();
        phase_ = phase::io_stops;
        [[fallthrough]];
      case phase::io_stops:
        if (state.io_still.load(memory_order::acquire) != halt_) break;  // the edge `halt`
        if (kind == request_kind::end) control.acknowledged.store(request_, memory_order::release);
        tell_to(header.stop, halt_);
        for (std::uint32_t t = 0; t < grid_.teams(); ++t) scheduler{arena_}.ring_doorbell(t);
        phase_ = phase::teams_stop;
        [[fallthrough]];
      case phase::teams_stop:
        for (std::uint32_t t = 0; t < grid_.teams(); ++t)
          if (arena_.team(t).still.load(memory_order::acquire) != halt_) {  // the edge `halt`
            if (kind == request_kind::run) keep_waiting_for_round();
            return true;
          }
        if (kind == request_kind::pause) {
          control.acknowledged.store(request_, memory_order::release);  // the edge `acknowledge`
          phase_ = phase::still;
          break;
        }
        leave();
        break;
      case phase::still:
      case phase::leaving:
        break;
    }
    return true;
  }

  /// Whether a team has reached the limits of the round and it is time to try to end it.
  RONDO_HD bool round_ends() noexcept {
    if (grid_.state->round_over.load(memory_order::relaxed) == 0) return false;  // relaxed: a request
    auto const now = now_ns();
    if (now < tries_again_ns_) return false;
    tries_again_ns_ = now + patience_ns_;
    return true;
  }
  /// Gives up an attempt that takes too long: one team may be in a long handler, and the others must not idle
  /// meanwhile.
  RONDO_HD void keep_waiting_for_round() {
    auto const now = now_ns();
    if (now < tries_again_ns_) return;
    resume();
    if (patience_ns_ < 100'000'000)
      patience_ns_ *= 2;  // several long handlers rarely finish at about the same time
    tries_again_ns_ = now + patience_ns_;
  }

  RONDO_HD void leave() {
    tell_to(grid_.state->io_stop, halt_ | leave_bit);
    tell_to(arena_.header().stop, halt_ | leave_bit);
    phase_ = phase::leaving;
  }

  RONDO_HD void resume() {
    if (phase_ == phase::running) return;
    tell_to(arena_.header().stop, 0);
    tell_to(grid_.state->io_stop, 0);
    phase_ = phase::running;
  }

  grid<Bus> grid_;
  arena_ref arena_;
  team team_;
  phase phase_ = phase::running;
  std::uint32_t halt_ = 0;                 // number of the current halt
  std::uint64_t patience_ns_ = 1'000'000;  // how long to wait for all teams to reach the end of a round
  std::uint64_t tries_again_ns_ = 0;       // when to try again or to give up; 0: no round has been over yet
  std::uint64_t answered_, request_ = 0, reported_ns_ = 0;
};

}  // namespace rondo
