// A grid: the teams that run on a device with its own memory, from the launch of its kernel to its end. They are the
// worker teams, the I/O team, and the keeper (grid_keeper.hpp), which carries out the host's requests.
//
// On a GPU they are the blocks of one cooperative grid; on the emulated device they are threads. The code is the same.
// Memory: `control_block`, reports, page, and the queue pair's slots are in pinned memory, which both sides reach.
// Arena and `grid_state` are in the device's memory. In pinned memory each word has one writer and sees only loads and
// stores.
//
// Ordering, across the bus
//  request      the host's release store of a request -> the keeper's acquire load: what the host has copied into the
//               arena.
//  acknowledge  the keeper's release store of `acknowledged` -> the host's acquire load: everything that teams did
//  before
//               they stood still.
//  page         the keeper's release store of `answered` -> the host's acquire load: the page.
#pragma once

#include "kernels/actor/ring_kernel.hpp"
#include "kernels/grid/direct_inbox.hpp"
#include "kernels/mail/snapshot.hpp"

namespace rondo {

enum class request_kind : std::uint32_t {
  run,
  pause,  // take the submissions up to `last`, then all teams stand still
  end,    // take no more submissions, and leave
};

/// A request with a unique number. 0: no request.
RONDO_HD constexpr std::uint64_t make_request(std::uint64_t number, request_kind kind) noexcept {
  return number << 2 | static_cast<std::uint32_t>(kind);
}
RONDO_HD constexpr request_kind kind_of_request(std::uint64_t request) noexcept {
  return static_cast<request_kind>(request & 3);
}

struct control_block {
  // -- written by the host
  alignas(64) atomic<std::uint64_t, scope::system> request;  // make_request
  atomic<std::uint64_t, scope::system> last;   // of a request to pause: a ticket of the submission ring
  atomic<std::uint64_t, scope::system> query;  // the query's number << 32 | the first cell of the page
  atomic<std::uint32_t, scope::system> query_actors;  // the number of cells on the page; 0: only reports
  // -- written by the keeper
  // The request in effect. Once it is `end`, nothing reads submissions any more.
  alignas(64) atomic<std::uint64_t, scope::system> acknowledged;
  atomic<std::uint64_t, scope::system> answered;  // the query that page and reports answer
  atomic<std::uint64_t, scope::system> beat;      // grows while the device lives
  atomic<std::uint64_t, scope::system> dealt;     // messages and submissions taken; set when all have left
};

/// What a team was doing when the keeper last looked. Made of atomics, because the keeper writes while the host reads.
struct team_report {
  atomic<std::uint32_t, scope::system> actor_plus_one, generation, behaviour, type, pinned, lane_plus_one;
  atomic<std::uint64_t, scope::system> beats;

  /// Relaxed, both: only a report; after a query, `answered` publishes it.
  RONDO_HD void write(team_snapshot const& s) noexcept {
    actor_plus_one.store(s.actor_plus_one, memory_order::relaxed);
    generation.store(s.generation, memory_order::relaxed);
    behaviour.store(s.behaviour, memory_order::relaxed);
    type.store(s.type, memory_order::relaxed);
    pinned.store(s.pinned, memory_order::relaxed);
    lane_plus_one.store(s.lane_plus_one, memory_order::relaxed);
    beats.store(s.beats, memory_order::relaxed);
  }
  RONDO_HD team_snapshot read() const noexcept {
    return {actor_plus_one.load(memory_order::relaxed), generation.load(memory_order::relaxed),
            behaviour.load(memory_order::relaxed),      type.load(memory_order::relaxed),
            beats.load(memory_order::relaxed),          pinned.load(memory_order::relaxed) != 0,
            lane_plus_one.load(memory_order::relaxed)};
  }
};

inline constexpr std::uint32_t page_actors = 32;  // actors on the page of one query

/// Words shared by the teams of one grid; zero at its launch, but for the bell, which may be rung at any time.
struct grid_state {
  alignas(64) atomic<std::uint32_t> io_stop;  // the I/O team's stop word (stop_word.hpp)
  atomic<std::uint32_t> io_still;             // its answer
  atomic<std::uint32_t> round_over;           // 1: a team has reached the limits of the round
  atomic<std::uint32_t> ended;                // teams that have left, including the I/O team
  alignas(64) atomic<std::uint32_t> keeper_bell;
  atomic<std::uint64_t>
      io_until;  // the I/O team stands still once it has taken submissions up to this ticket
  atomic<std::uint64_t> dealt;
  alignas(64) atomic<std::uint64_t> orders;  // see io_team

  /// For the launch. The bell counts on: the host may be ringing it. Precondition: no team runs.
  void reset() noexcept {
    for (auto* const word : {&io_stop, &io_still, &round_over, &ended}) word->store(0, memory_order::relaxed);
    for (auto* const word : {&io_until, &dealt, &orders}) word->store(0, memory_order::relaxed);
  }

  /// Wakes the keeper if it sleeps. The caller publishes its reason first.
  RONDO_HD void ring_keeper() noexcept {
    keeper_bell.fetch_add(1, memory_order::release);  // pairs with the keeper's load at the start of its turn
    wake_word(keeper_bell, 1);
  }
};

/// The launch parameters of a grid; passed by value.
template <class Bus = prompt_bus>
struct grid {
  std::byte* arena = nullptr;
  grid_state* state = nullptr;
  control_block* control = nullptr;
  team_report* reports = nullptr;  // one per team
  actor_snapshot* page = nullptr;  // page_actors
  queue_pair_ref<Bus> queues;
  buffer_table_ref buffers;
  idle_policy idle;
  round_limits round;
  std::uint32_t pool_teams = 0, pinned_teams = 0;  // pool teams have the lower indices

  RONDO_HD std::uint32_t teams() const noexcept { return pool_teams + pinned_teams; }
};

/// All lanes of a worker team call this; it returns when the grid ends. They share `window`.
template <class Module, class Bus>
RONDO_HD void run_worker(grid<Bus> const& g, team const& t, host_port const& host, io_window& window) {
  arena_ref const arena{g.arena};
  grid_state& state = *g.state;
  auto& stop = arena.header().stop;
  auto idle = g.idle;
  idle.pinned_only = t.index() >= g.pool_teams;
  bool const rounds = g.round.messages != 0 || g.round.ns != 0;
  auto const* const direct =
      idle.pinned_only && g.queues.direct_rings != 0 ? &g.queues.direct[t.index() - g.pool_teams] : nullptr;
  using inbox = direct_inbox<Module, Bus>;
  auto port = host;
  if constexpr (takes_windows) port.mail = &window.mail;
  if (direct != nullptr && inbox::joins) {
    port.stage = &window.stage;
    // Zeros: payloads cross the bus in whole words.
    auto* const words = reinterpret_cast<std::uint32_t*>(&window.stage);
    for (auto const i : lane_range{sizeof window.stage / 4, t.lane(), t.lanes()}) words[i] = 0;
    static_assert(reply_stage::off == 0);
    t.sync();
  }
  ring_kernel<Module, inbox> kernel{
      arena, t, port, idle,
      inbox{arena, direct, direct != nullptr ? direct->ring : g.queues.down, state.orders, port, t, window}};
  auto const stays = [&](std::uint64_t dealt) {
    state.dealt.fetch_add(dealt, memory_order::relaxed);  // relaxed: published by the answer
    // A team that reaches its limits goes on until the keeper ends the round for all teams.
    if (rounds && !arena.stopping()) {  // relaxed: only a request
      state.round_over.store(1, memory_order::relaxed);
      state.ring_keeper();
    }
    return stand_still(
        stop, arena.team(t.index()).still, [&] { state.ring_keeper(); },
        [&] { return kernel.inbox().has_taken_all(); });
  };
  for (bool more = true; more;) {
    auto const dealt = kernel.run(g.round);
    kernel.inbox().take_all(stop);
    more = t.broadcast(t.leader() && stays(dealt));
  }
  if (!t.leader()) return;
  state.ended.fetch_add(1, memory_order::relaxed);  // relaxed: its answer published what it counted
  state.ring_keeper();
}

/// For an I/O team on a thread: wakes the pinned teams for which the host has rung. The host cannot, because at a
/// safepoint the arena is not to change. True if there was one.
template <class Bus>
bool wake_pinned_teams(grid<Bus> const& g) {
  bool any = false;
  for (std::uint32_t n = 0; n < g.queues.direct_rings; ++n) {
    auto& rung = g.queues.direct[n].rung;
    // Acquire: the submission, which the doorbell then releases to the team.
    if (rung.load(memory_order::relaxed) == 0 || rung.exchange(0, memory_order::acquire) == 0) continue;
    scheduler{arena_ref{g.arena}}.ring_doorbell(g.pool_teams + n);
    any = true;
  }
  return any;
}

/// The I/O team's loop. All lanes of `t` call this; it returns when the grid ends. `idle` decides how it waits: the
/// loop calls worked() after a step that found submissions, and wait(was_submitted, is_asked) after one that found
/// none. Each call of was_submitted crosses the bus. looks_around() says how often the loop looks whether it is asked
/// to stand still, and whether buffers have become free.
template <class Module, class Bus, class Idle>
RONDO_HD void run_io(grid<Bus> const& g, host_port const& host, team const& t, io_window& window, Idle idle) {
  grid_state& state = *g.state;
  io_team<Module, Bus> io{arena_ref{g.arena}, g.queues.down, state.orders, host, t, window};
  // Relaxed: of the grids before, whose end precedes this one.
  if (t.leader()) state.orders.store(io.head(), memory_order::relaxed);
  auto const has_taken_all = [&] { return io.head() >= state.io_until.load(memory_order::relaxed); };
  auto const is_asked_to_stand = [&] {
    auto const word = state.io_stop.load(memory_order::relaxed);  // relaxed: stand_still loads it again
    return word != 0 && ((word & leave_bit) != 0 || has_taken_all());
  };
  auto const told = [&] { state.ring_keeper(); };
  for (;;) {
    bool const looks_around = idle.looks_around();
    if (looks_around && t.leader()) io.report_free_buffers();
    if (looks_around && t.broadcast(t.leader() && is_asked_to_stand())) {
      // has_taken_all is checked for each number: another halt may have come, with its own ticket.
      if (!t.broadcast(t.leader() && stand_still(state.io_stop, state.io_still, told, has_taken_all))) break;
    } else if (auto const taken = io.step(64); taken != 0) {
      if (t.leader())
        state.dealt.fetch_add(taken, memory_order::relaxed);  // relaxed: published by the answer
      idle.worked();
    } else {
      idle.wait([&] { return io.has_work(); }, is_asked_to_stand);
    }
  }
  if (!t.leader()) return;
  state.ended.fetch_add(1, memory_order::relaxed);  // relaxed: as for the teams
  state.ring_keeper();
}

}  // namespace rondo
