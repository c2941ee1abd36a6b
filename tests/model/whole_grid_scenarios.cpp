// Scenarios with a grid made of its real parts: worker teams, the I/O team and the keeper.
#include "kernels/grid/grid_keeper.hpp"
#include "runtime/device/queue/host_queues.hpp"
#include "tests/model/bus_world.hpp"
#include "tests/model/scenarios.hpp"
#include "tests/model/team_world.hpp"

namespace model {

namespace {

/// The rings of a grid with that many pinned teams.
queue_pair_ref<> make_queues(execution& in, std::uint32_t pinned_teams) {
  queue_pair_ref<> queues{make_ring<submission>(in, 4), make_ring<device_event>(in, 2),
                          &in.shared<direct_ring<prompt_bus>>(), pinned_teams};
  if (pinned_teams != 0) queues.direct->ring = make_ring<submission>(in, 4);
  return queues;
}

/// A grid made of its real parts: the teams run actors, the I/O team and pinned teams take submissions.
struct whole_grid : team_world {
  whole_grid(execution& in, arena_shape const& shape, round_limits round, std::uint32_t pinned_teams = 0)
      : team_world(in, shape, ~0u),
        owners(pinned_teams, 0, shape.actors),
        queues(make_queues(in, pinned_teams), owners, {0, true, false}),
        over(in.shared<atomic<std::uint32_t>>()) {
    g.arena = arena().base();
    g.state = &in.shared<grid_state>();
    g.control = &in.shared<control_block>();
    g.reports =
        reinterpret_cast<team_report*>(in.memory(shape.teams * sizeof(team_report), alignof(team_report)));
    g.queues = queues.queues();
    g.idle = {.spin_ns = 0, .park = true};
    g.round = round;
    g.pool_teams = shape.teams - pinned_teams;
    g.pinned_teams = pinned_teams;
    g.control->request.store(make_request(1, request_kind::run), memory_order::relaxed);
  }

  team_owners owners;
  host_queues<> queues;
  atomic<std::uint32_t>& over;  // the grid has ended, and its host has noticed
  grid<> g;
  std::uint64_t requests = 1;

  /// How the I/O team waits, as on the emulated device.
  struct io_idle {
    grid<> const& of;
    doorbell& bell;
    bool looks_around() const { return wake_pinned_teams(of), true; }
    void worked() {}
    template <class WasSubmitted, class IsAsked>
    void wait(WasSubmitted was_submitted, IsAsked is_asked) {
      bell.sleep([&] { return was_submitted() || is_asked() || wake_pinned_teams(of); }, 1'000'000'000);
    }
  };

  void start() {
    for (std::uint32_t t = 0; t < g.teams(); ++t)
      x().thread(t == 0 ? "team 0" : "team 1", [this, t] {
        io_window window;
        run_worker<behaviours>(g, team{t}, host(), window);
      });
    x().thread("I/O team", [this] {
      io_window window;
      run_io<behaviours>(g, host(), team{0}, window, io_idle{g, queues.io_bell()});
    });
    x().thread("keeper", [this] {
      grid_keeper<> keeper{g, team{0}};
      keeper.run([this] { queues.io_bell().ring(); }, [] { return false; });
      over.store(1, memory_order::release);
    });
  }

  void submit(actor_id to, note n) { submit(to, {&n, 1}); }
  void submit(actor_id to, std::span<note const> some) {
    auto const header = note_header();
    auto const count = static_cast<std::uint32_t>(some.size());
    while (queues.submit({to, header, some.data(), sizeof(note), sizeof(note), count}, {}) != errc::ok)
      relax();
  }
  std::uint64_t request(request_kind kind) {
    auto const w = make_request(++requests, kind);
    for (std::uint32_t n = 0; n < g.pinned_teams; ++n)
      g.queues.direct[n].last.store(kind == request_kind::pause ? g.queues.direct[n].ring.tail() : 0,
                                    memory_order::relaxed);
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
    auto const waiting = word.ring() == 0 ? 0 : (word.tail() - arena().owner(cell).head) & ticket_mask;
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

/// A pinned receiver that its host launches.
launch_spec pinned_receiver(whole_grid& w) {
  auto s = w.spec(0, 2, 1);
  s.behaviour = behaviours::index_of<receiver>();
  s.pinned = true;
  s.active = true;
  s.team = w.owners.take(s.id).value();
  w.on_event = [&](device_event const&) { w.x().require(false, "no message is refused"); };
  return s;
}

/// The same of a batch, of which the second note fails at first: by then the batch has begun, and the rest of it goes
/// like single notes.
void a_pinned_team_takes_a_batch(execution& x) {
  whole_grid w{x, {.actors = 1, .rings = 1, .ring_slots = 8, .teams = 1, .heap_bytes = 2048}, {}, 1};
  auto s = pinned_receiver(w);
  s.capacity = 5;
  s.behaviour = behaviours::index_of<stumbler>();
  w.on_event = [](device_event const&) {};
  w.start();
  x.thread("host", [&] {
    x.require(w.queues.launch(s) == errc::ok, "the launch is submitted");
    w.submit(s.id, {0, 0});
    note const rest[] = {{0, 1}, {0, 2}, {0, 3}};
    w.submit(s.id, rest);
    w.submit(s.id, {0, 4});
    x.require(w.comes_true(w.request(request_kind::pause)), "the grid runs until it is told to end");
    auto const& cell = w.arena().cell(0);
    actor_word const word{cell.word.load(memory_order::relaxed)};
    auto const waiting = word.ring() == 0 ? 0 : (word.tail() - w.arena().owner(cell).head) & ticket_mask;
    x.require(w.next_note + waiting == 5, "each note is handled, or waits");
    w.request(request_kind::run);
    w.request(request_kind::end);
  });
  x.run();
}

/// A pinned team takes its own mail, which the launch of its actor precedes, although that comes another way.
void a_pinned_team_takes_its_mail(execution& x) {
  whole_grid w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}, {}, 1};
  auto const s = pinned_receiver(w);
  w.start();
  x.thread("host", [&] {
    x.require(w.queues.launch(s) == errc::ok, "the launch is submitted");
    w.submit(s.id, {0, 0});
    w.submit(s.id, {0, 1});
    x.require(w.comes_true(w.request(request_kind::pause)), "the grid runs until it is told to end");
    w.use(2);
    w.request(request_kind::run);
    w.request(request_kind::end);
  });
  x.run();
}

/// A pinned team that sleeps, or is about to, handles its own mail although nothing else comes.
void a_pinned_team_is_woken(execution& x) {
  whole_grid w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}, {}, 1};
  auto const s = pinned_receiver(w);
  auto& handled = x.shared<atomic<std::uint32_t>>();
  w.on_note = [&](note) { handled.fetch_add(1, memory_order::relaxed); };
  w.start();
  x.thread("host", [&] {
    x.require(w.queues.launch(s) == errc::ok, "the launch is submitted");
    for (std::uint32_t n = 0; n < 2; ++n) {
      w.submit(s.id, {0, n});
      while (handled.load(memory_order::relaxed) == n) relax();
    }
    w.request(request_kind::end);
  });
  x.run();
}

/// What the I/O team and a pinned team do about a host's ring, and nothing else: whoever is woken finds the submission.
void a_ring_leads_to_mail(execution& x) {
  whole_grid w{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}, {}, 1};
  auto const s = pinned_receiver(w);
  x.thread("host", [&] { w.submit(s.id, {0, 0}); });
  x.thread("I/O team", [&] {
    while (!wake_pinned_teams(w.g)) relax();
  });
  x.thread("team 0", [&] {
    io_window window;
    submission_reader<> reader{w.g.queues.direct->ring, w.host(), team{0}, window};
    auto& bell = w.arena().team(0).doorbell;
    for (;;) {  // as a ring kernel backs off
      auto const seen = bell.load(memory_order::relaxed);
      atomic_fence(memory_order::seq_cst);
      if (reader.has_work()) break;
      wait_word(bell, seen, 1'000'000'000);
    }
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

std::vector<scenario> whole_grid_scenarios() {
  return {
      {"safepoint_mail", "at a safepoint all that was submitted before is in the mailboxes",
       a_safepoint_has_all_mail, bounds{2, 0}, bounds{1, 0}},
      {"direct_mail", "a pinned team takes its own mail after the orders that came before it",
       a_pinned_team_takes_its_mail, bounds{1, 0}, bounds{1, 0}},
      {"direct_batch", "the same of a batch, part of which needs the mailbox", a_pinned_team_takes_a_batch,
       bounds{1, 0}, bounds{1, 0}},
      {"direct_wake", "a pinned team that falls asleep misses none of its own mail", a_pinned_team_is_woken,
       bounds{1, 0}, bounds{1, 0}},
      {"direct_ring", "a pinned team that is woken finds what was submitted", a_ring_leads_to_mail,
       bounds{3, 1}, bounds{2, 1}},
      {"round_end", "the end of a round and a safepoint do not meet half-way",
       a_round_ends_while_the_host_wishes, bounds{2, 0}, bounds{1, 0}},
      {"round_end_handler", "a handler that outlasts its round does not keep the other teams",
       a_handler_outlasts_the_round, bounds{1, 0}, bounds{1, 0}},
  };
}

}  // namespace model
