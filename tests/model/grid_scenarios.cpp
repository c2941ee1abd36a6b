// How the teams of a grid halt and resume, and how a grid ends: the keeper between host and teams.
#include "kernels/grid/grid_keeper.hpp"
#include "runtime/device/queue/host_queues.hpp"
#include "tests/model/bus_world.hpp"
#include "tests/model/scenarios.hpp"
#include "tests/model/team_world.hpp"

namespace model {

namespace {

/// A grid whose teams only count. The counters of the teams and of the I/O team are not atomic; nobody may access them while
/// the team runs.
struct grid_world {
  grid_world(execution& in, std::uint32_t teams)
      : x(in), a(in, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = teams, .heap_bytes = 256}) {
    g.arena = a.arena().base();
    g.state = &in.shared<grid_state>();
    g.control = &in.shared<control_block>();
    g.reports = &in.shared<team_report>();
    g.page = reinterpret_cast<actor_snapshot*>(
        in.memory(page_actors * sizeof(actor_snapshot), alignof(actor_snapshot)));
    g.pool_teams = teams;
    for (auto& w : worked) w = &in.shared<std::uint32_t>();
    g.control->request.store(make_request(1, request_kind::run), memory_order::relaxed);
  }

  execution& x;
  arena_world a;
  grid<> g;
  std::uint32_t* worked[3];  // by team; the last one belongs to the I/O team
  std::uint64_t requests = 1;

  auto ring() {
    return [this] { g.state->ring_keeper(); };
  }

  /// After the run.
  void check_that_all_left() const {
    x.require(g.state->ended.load(memory_order::relaxed) == g.teams() + 1, "all have left");
  }

  void start_teams(std::uint32_t turns) {
    for (std::uint32_t t = 0; t < g.pool_teams; ++t)
      x.thread(t == 0 ? "team 0" : "team 1", [this, t, turns] {
        auto& stop = a.arena().header().stop;
        bool stays = true;
        for (std::uint32_t i = 0; i < turns && stays; ++i) {
          if (!a.arena().stopping()) ++*worked[t];
          if (a.arena().stopping()) stays = stand_still(stop, a.arena().team(t).still, ring());
        }
        while (stays) {
          while (!a.arena().stopping()) wait_word(stop, 0, 1);
          stays = stand_still(stop, a.arena().team(t).still, ring());
        }
        ends();
      });
    x.thread("I/O team", [this, turns] {
      auto& stop = g.state->io_stop;
      bool stays = true;
      for (std::uint32_t i = 0; stays; ++i) {
        if (stop.load(memory_order::acquire) != 0)
          stays = stand_still(stop, g.state->io_still, ring());
        else if (i < turns)
          ++*worked[2];
        else
          wait_word(stop, 0, 1);
      }
      ends();
    });
    x.thread("keeper", [this] {
      grid_keeper<> keeper{g, team{0}};
      keeper.run([] {}, [] { return false; });
    });
  }

  // -- the host's side, as in queue_device

  std::uint64_t request(request_kind kind) {
    auto const w = make_request(++requests, kind);
    g.control->request.store(w, memory_order::release);
    g.state->ring_keeper();
    return w;
  }
  bool is_acknowledged(std::uint64_t w) const {
    return g.control->acknowledged.load(memory_order::acquire) == w;
  }
  void wait_for(std::uint64_t w) const {
    while (!is_acknowledged(w)) relax();
  }
  /// Query number `n`; waits for its page, which shows `actors` cells from `first` on.
  void ask(std::uint64_t n, std::uint32_t first, std::uint32_t actors) const {
    g.control->query_actors.store(actors, memory_order::relaxed);
    g.control->query.store(n << 32 | first, memory_order::release);
    g.state->ring_keeper();
    while (g.control->answered.load(memory_order::acquire) != (n << 32 | first)) relax();
  }
  /// A safepoint: nobody else counts, and the teams continue from the values that are written here.
  void use() const {
    std::uint32_t before[3];
    for (int i = 0; i < 3; ++i) before[i] = *worked[i];
    for (int i = 0; i < 3; ++i) *worked[i] += 10;
    for (int i = 0; i < 3; ++i) x.require(*worked[i] == before[i] + 10, "a safepoint is quiet");
  }

 private:
  void ends() {
    g.state->ended.fetch_add(1, memory_order::relaxed);
    g.state->ring_keeper();
  }
};

void safepoints_are_quiet(execution& x) {
  grid_world w{x, 1};
  w.start_teams(2);
  x.thread("host", [&] {
    w.wait_for(w.request(request_kind::pause));
    w.use();
    w.request(request_kind::run);
    w.request(request_kind::end);
  });
  x.run();
  x.require(*w.worked[0] >= 10 && *w.worked[2] >= 10, "what the host wrote is there");
  w.check_that_all_left();
}

/// An answer to the first halt does not count for the second, even if the team has not resumed yet.
void halts_follow_each_other(execution& x) {
  grid_world w{x, 2};
  w.start_teams(2);
  x.thread("host", [&] {
    w.wait_for(w.request(request_kind::pause));
    w.request(request_kind::run);
    w.wait_for(w.request(request_kind::pause));
    w.use();
    w.request(request_kind::end);
  });
  x.run();
  w.check_that_all_left();
}

/// The host gives up before all teams have halted, and tries again.
void a_halt_is_taken_back(execution& x) {
  grid_world w{x, 1};
  w.start_teams(3);
  x.thread("host", [&] {
    auto const first = w.request(request_kind::pause);
    if (w.is_acknowledged(first)) w.use();
    w.request(request_kind::run);
    w.wait_for(w.request(request_kind::pause));
    w.use();
    w.request(request_kind::end);
  });
  x.run();
  w.check_that_all_left();
}

/// The end is acknowledged when nobody reads the submission ring any more, even if a team stays in its handler.
void the_end_is_acknowledged(execution& x) {
  grid_world w{x, 1};
  auto& handler_ends = x.shared<atomic<std::uint32_t>>();
  w.g.pool_teams = 0;
  w.start_teams(2);
  w.g.pool_teams = 1;
  x.thread("team in a handler", [&] {
    while (handler_ends.load(memory_order::acquire) == 0) relax();
    x.require(w.a.arena().stopping(), "the submission ring ends while the handler runs");
    while (stand_still(w.a.arena().header().stop, w.a.arena().team(0).still, w.ring())) {
    }
    w.g.state->ended.fetch_add(1, memory_order::relaxed);
    w.g.state->ring_keeper();
  });
  x.thread("host", [&] {
    w.wait_for(w.request(request_kind::end));
    *w.worked[2] += 1;  // the only reader of the submission ring
    while (!w.a.arena().stopping()) relax();
    handler_ends.store(1, memory_order::release);
  });
  x.run();
}

/// A page is not written while the host reads it, and its contents are not older than the query.
void pages_answer_their_queries(execution& x) {
  grid_world w{x, 1};
  actor_snapshot const* const page = w.g.page;
  auto const id = w.a.launch(0, 1);
  w.start_teams(0);
  x.thread("somebody else", [&] {  // makes the keeper check at other moments
    for (int i = 0; i < 3; ++i) w.g.state->ring_keeper();
  });
  x.thread("host", [&] {
    w.ask(1, 0, 2);
    x.require(page[0].generation == id.generation && page[1].state == lifecycle::free, "the page shows all");
    w.ask(2, 1, 1);
    x.require(page[0].state == lifecycle::free, "the page shows the cells that were asked for");
    w.request(request_kind::end);
  });
  x.run();
}

/// An end after a safepoint: nobody runs in between. The host may request it before it has seen the safepoint.
void the_end_follows_a_safepoint(execution& x) {
  grid_world w{x, 1};
  w.start_teams(2);
  x.thread("host", [&] {
    auto const pause = w.request(request_kind::pause);
    bool const quiet = w.is_acknowledged(pause);
    if (quiet) w.use();
    auto const counted = quiet ? *w.worked[0] : 0;
    w.wait_for(w.request(request_kind::end));
    *w.worked[2] += 1;  // the only reader of the submission ring
    x.require(!quiet || *w.worked[0] == counted, "no team runs after the safepoint");
  });
  x.run();
  w.check_that_all_left();
}

/// A grid made of its real parts: the teams run actors, the I/O team takes submissions.
struct whole_grid : team_world {
  whole_grid(execution& in, arena_shape const& shape, round_limits round)
      : team_world(in, shape, ~0u),
        queues({make_ring<submission>(in, 4), make_ring<device_event>(in, 2)}, {0, true, false}),
        over(in.shared<atomic<std::uint32_t>>()) {
    g.arena = arena().base();
    g.state = &in.shared<grid_state>();
    g.control = &in.shared<control_block>();
    g.reports =
        reinterpret_cast<team_report*>(in.memory(shape.teams * sizeof(team_report), alignof(team_report)));
    g.queues = queues.queues();
    g.idle = {.spin_ns = 0, .park = true};
    g.round = round;
    g.pool_teams = shape.teams;
    g.control->request.store(make_request(1, request_kind::run), memory_order::relaxed);
  }

  host_queues<> queues;
  atomic<std::uint32_t>& over;  // the grid has ended, and its host has noticed
  grid<> g;
  std::uint64_t requests = 1;

  /// How the I/O team waits, as on the emulated device.
  struct io_idle {
    doorbell& bell;
    static constexpr bool looks_at_requests() { return true; }
    void worked() {}
    template <class WasSubmitted, class IsAsked>
    void wait(WasSubmitted was_submitted, IsAsked is_asked) {
      bell.sleep([&] { return was_submitted() || is_asked(); }, 1'000'000'000);
    }
  };

  void start() {
    for (std::uint32_t t = 0; t < g.pool_teams; ++t)
      x().thread(t == 0 ? "team 0" : "team 1", [this, t] { run_worker<behaviours>(g, team{t}, host()); });
    x().thread("I/O team", [this] {
      io_window window;
      run_io<behaviours>(g, host(), team{0}, window, io_idle{queues.io_bell()});
    });
    x().thread("keeper", [this] {
      grid_keeper<> keeper{g, team{0}};
      keeper.run([this] { queues.io_bell().ring(); }, [] { return false; });
      over.store(1, memory_order::release);
    });
  }

  void submit(actor_id to, note n) {
    auto const header = note_header();
    while (queues.submit({to, header, &n, sizeof n}, {}) != errc::ok) relax();
  }
  std::uint64_t request(request_kind kind) {
    auto const w = make_request(++requests, kind);
    g.control->last.store(queues.queues().down.tail(), memory_order::relaxed);
    g.control->request.store(w, memory_order::release);
    g.state->ring_keeper();
    return w;
  }
  /// False if the grid has already ended.
  bool comes_true(std::uint64_t w) const {
    while (g.control->acknowledged.load(memory_order::acquire) != w) {
      if (over.load(memory_order::acquire) != 0) return false;
      relax();
    }
    return true;
  }
  /// A safepoint: the host reads and writes the teams' data. `submitted`: notes to actor 0.
  void use(std::uint32_t submitted) const {
    auto const& cell = arena().cell(0);
    actor_word const word{cell.word.load(memory_order::relaxed)};
    auto const waiting = word.ring() == 0 ? 0 : (word.tail() - cell.head) & ticket_mask;
    auto& book = reinterpret_cast<receiver*>(arena().state(cell))->book;
    x().require(book.taken + waiting == submitted, "what was submitted before is in the mailbox");
    x().require(!word.has(actor_word::running), "nobody runs it");
    book.next[max_threads - 1] += 1;
  }
};

/// The limit up to which submissions are taken belongs to its request, even if another halt came just before.
void a_safepoint_has_all_mail(execution& x) {
  whole_grid w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}, {}};
  auto const id = launch_in<receiver>(w, 0, 2);
  w.start();
  x.thread("host", [&] {
    w.submit(id, {0, 0});
    w.request(request_kind::pause);  // the host gives this request up
    w.submit(id, {0, 1});
    w.request(request_kind::run);
    x.require(w.comes_true(w.request(request_kind::pause)), "the grid runs until it is told to end");
    w.use(2);
    w.request(request_kind::run);
    w.request(request_kind::end);
  });
  x.run();
}

/// A round ends while the host requests a pause: both complete. Counts the work of all parts of the grid.
void a_round_ends_while_the_host_wishes(execution& x) {
  whole_grid w{
      x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 2, .heap_bytes = 256}, {.messages = 1, .ns = 0}};
  auto const id = launch_in<receiver>(w, 0, 2);
  x.let_time_pass();
  w.start();
  x.thread("host", [&] {
    w.submit(id, {0, 0});
    w.submit(id, {0, 1});
    if (!w.comes_true(w.request(request_kind::pause))) return;
    w.use(2);
    w.request(request_kind::run);
    w.request(request_kind::end);  // a round that ended just before the pause may have started again
  });
  x.run();
  auto const taken = w.g.queues.down.progress->consumed.load(memory_order::relaxed);
  auto const handled = w.totals(0).handled;
  x.require(w.g.control->dealt.load(memory_order::relaxed) == taken + handled, "what each did is counted");
}

/// One team stays in its handler when the round ends: messages for the other team are handled in the meantime.
void a_handler_outlasts_the_round(execution& x) {
  whole_grid w{
      x, {.actors = 2, .rings = 2, .ring_slots = 2, .teams = 2, .heap_bytes = 512}, {.messages = 1, .ns = 0}};
  auto const busy = launch_in<receiver>(w, 0, 2), other = launch_in<receiver>(w, 1, 2);
  auto& stage = x.shared<atomic<std::uint32_t>>();
  w.on_note = [&](note n) {
    if (n.sender == 0) {
      stage.store(1, memory_order::release);
      while (stage.load(memory_order::acquire) != 2) relax();
    } else if (n.number == 1) {
      stage.store(2, memory_order::release);
    }
  };
  x.let_time_pass();
  w.start();
  x.thread("host", [&] {
    w.submit(busy, {0, 0});
    while (stage.load(memory_order::acquire) == 0) relax();
    w.submit(other, {1, 0});
    while (w.g.state->round_over.load(memory_order::relaxed) == 0) relax();
    w.submit(other, {1, 1});
  });
  x.run();
  x.require(w.totals(0).handled == 1 && w.totals(1).handled == 2, "all was handled within the round");
}

}  // namespace

std::vector<scenario> grid_scenarios() {
  return {
      {"safepoint", "at a safepoint nobody runs, and what the host writes is seen afterwards",
       safepoints_are_quiet, bounds{2, 1}, bounds{1, 1}},
      {"safepoints", "a team that stood still for one halt is not taken to stand still for the next",
       halts_follow_each_other, bounds{2, 0}, bounds{1, 1}},
      {"safepoint_given_up", "a halt that came to nothing does no harm", a_halt_is_taken_back, bounds{2, 1},
       bounds{1, 1}},
      {"grid_end", "a grid is told to end once nobody reads the submission ring, and ends when its teams do",
       the_end_is_acknowledged, bounds{2, 1}, bounds{1, 1}},
      {"safepoint_end", "after a safepoint nobody runs if the grid is to end", the_end_follows_a_safepoint,
       bounds{2, 1}, bounds{1, 1}},
      {"safepoint_mail", "at a safepoint all that was submitted before is in the mailboxes",
       a_safepoint_has_all_mail, bounds{2, 0}, bounds{1, 0}},
      {"round_end", "the end of a round and a safepoint do not meet half-way",
       a_round_ends_while_the_host_wishes, bounds{2, 0}, bounds{1, 0}},
      {"round_end_handler", "a handler that outlasts its round does not keep the other teams",
       a_handler_outlasts_the_round, bounds{1, 0}, bounds{1, 0}},
      {"grid_query", "a page is not written while the host reads it", pages_answer_their_queries,
       bounds{2, 0}, bounds{1, 1}},
  };
}

}  // namespace model
