// How the teams of a grid come to stand still and go on, and how a grid ends: the keeper between host and teams.
#include "kernels/grid_keeper.hpp"
#include "tests/model/arena_world.hpp"
#include "tests/model/scenarios.hpp"

namespace model {

namespace {

/// A grid whose teams only count: each one's number, and the I/O team's, is a plain word that nobody may touch while
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
    g.control->wish.store(make_wish(1, wish_kind::run), memory_order::relaxed);
  }

  execution& x;
  arena_world a;
  grid<> g;
  std::uint32_t* worked[3];  // by team; the last one is the I/O team's
  std::uint64_t wishes = 1;

  auto ring() {
    return [this] { g.state->ring_keeper(); };
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

  // -- the host, as lane_device is

  std::uint64_t wish(wish_kind kind) {
    auto const w = make_wish(++wishes, kind);
    g.control->wish.store(w, memory_order::release);
    g.state->ring_keeper();
    return w;
  }
  bool is_granted(std::uint64_t w) const { return g.control->granted.load(memory_order::acquire) == w; }
  void wait_for(std::uint64_t w) const {
    while (!is_granted(w)) relax();
  }
  /// A quiet point: nobody else counts, and what is written here is what they go on from.
  void use() const {
    std::uint32_t before[3];
    for (int i = 0; i < 3; ++i) before[i] = *worked[i];
    for (int i = 0; i < 3; ++i) *worked[i] += 10;
    for (int i = 0; i < 3; ++i) x.require(*worked[i] == before[i] + 10, "a quiet point is quiet");
  }

 private:
  void ends() {
    g.state->ended.fetch_add(1, memory_order::acq_rel);
    g.state->ring_keeper();
  }
};

void quiet_points_are_quiet(execution& x) {
  grid_world w{x, 1};
  w.start_teams(2);
  x.thread("host", [&] {
    w.wait_for(w.wish(wish_kind::pause));
    w.use();
    w.wish(wish_kind::run);
    w.wish(wish_kind::end);
  });
  x.run();
  x.require(*w.worked[0] >= 10 && *w.worked[2] >= 10, "what the host wrote is there");
  x.require(w.g.state->ended.load(memory_order::relaxed) == 2, "all have left");
}

/// An answer to the first halt is none to the second, even if the team has not gone on yet.
void halts_follow_each_other(execution& x) {
  grid_world w{x, 2};
  w.start_teams(2);
  x.thread("host", [&] {
    w.wait_for(w.wish(wish_kind::pause));
    w.wish(wish_kind::run);
    w.wait_for(w.wish(wish_kind::pause));
    w.use();
    w.wish(wish_kind::end);
  });
  x.run();
  x.require(w.g.state->ended.load(memory_order::relaxed) == 3, "all have left");
}

/// The host gives up before all teams stand still, and tries again.
void a_halt_is_taken_back(execution& x) {
  grid_world w{x, 1};
  w.start_teams(3);
  x.thread("host", [&] {
    auto const first = w.wish(wish_kind::pause);
    if (w.is_granted(first)) w.use();
    w.wish(wish_kind::run);
    w.wait_for(w.wish(wish_kind::pause));
    w.use();
    w.wish(wish_kind::end);
  });
  x.run();
  x.require(w.g.state->ended.load(memory_order::relaxed) == 2, "all have left");
}

/// To end is granted when nobody reads the way down any more, even if a team stays in its handler.
void the_end_is_granted(execution& x) {
  grid_world w{x, 1};
  auto& handler_ends = x.shared<atomic<std::uint32_t>>();
  w.g.pool_teams = 0;
  w.start_teams(2);
  w.g.pool_teams = 1;
  x.thread("team in a handler", [&] {
    while (handler_ends.load(memory_order::acquire) == 0) relax();
    x.require(w.a.arena().stopping(), "the way down ends while the handler runs");
    while (stand_still(w.a.arena().header().stop, w.a.arena().team(0).still, w.ring())) {
    }
    w.g.state->ended.fetch_add(1, memory_order::acq_rel);
    w.g.state->ring_keeper();
  });
  x.thread("host", [&] {
    w.wait_for(w.wish(wish_kind::end));
    *w.worked[2] += 1;  // alone with the way down
    while (!w.a.arena().stopping()) relax();
    handler_ends.store(1, memory_order::release);
  });
  x.run();
}

/// A page is not written while the host reads it, and what it shows was there when it was asked for.
void pages_answer_their_queries(execution& x) {
  grid_world w{x, 1};
  actor_snapshot const* const page = w.g.page;
  auto const id = w.a.launch(0, 1);
  w.start_teams(0);
  x.thread("host", [&] {
    for (std::uint64_t n = 1; n <= 2; ++n) {
      w.g.control->query.store(n << 32, memory_order::release);
      w.g.state->ring_keeper();
      while (w.g.control->answered.load(memory_order::acquire) != n << 32) relax();
      x.require(page[0].generation == id.generation && page[1].state == lifecycle::free,
                "the page shows all");
    }
    w.wish(wish_kind::end);
  });
  x.run();
}

}  // namespace

std::vector<scenario> grid_scenarios() {
  return {
      {"quiet_point", "at a quiet point nobody runs, and what the host writes is seen afterwards",
       quiet_points_are_quiet, bounds{2, 1}, bounds{1, 1}},
      {"quiet_points", "a team that stood still for one halt is not taken to stand still for the next",
       halts_follow_each_other, bounds{2, 0}, bounds{1, 1}},
      {"quiet_point_given_up", "a halt that came to nothing does no harm", a_halt_is_taken_back, bounds{2, 1},
       bounds{1, 1}},
      {"grid_end", "a grid is told to end once nobody reads the way down, and ends when its teams do",
       the_end_is_granted, bounds{2, 1}, bounds{1, 1}},
      {"grid_query", "a page is not written while the host reads it", pages_answer_their_queries,
       bounds{2, 0}, bounds{1, 1}},
  };
}

}  // namespace model
