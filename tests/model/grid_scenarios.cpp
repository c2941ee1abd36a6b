// How the teams of a grid halt and resume, and how a grid ends: the keeper between host and teams.
#include "kernels/grid/grid_keeper.hpp"
#include "tests/model/scenarios.hpp"
#include "tests/model/team_world.hpp"

namespace model {

namespace {

/// A grid whose teams only count. The counters of the teams and of the I/O team are not atomic; nobody may access them
/// while the team runs.
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
      {"grid_query", "a page is not written while the host reads it", pages_answer_their_queries,
       bounds{2, 0}, bounds{1, 1}},
  };
}

}  // namespace model
