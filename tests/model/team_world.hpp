// Scenarios with whole teams: real ring kernels, behaviours that keep books in watched memory, and a host that inspects
// every event.
#pragma once

#include <cstring>
#include <optional>

#include "kernels/actor/ring_kernel.hpp"
#include "tests/model/arena_world.hpp"

namespace model {

/// State that the threads of one scenario share besides the arena. Not watched: only one fiber runs at a time, and
/// nothing in it creates order.
struct team_world : arena_world {
  team_world(execution& x, arena_shape const& shape, std::uint32_t all_notes, std::uint32_t first_ticket = 0)
      : arena_world(x, shape, first_ticket), all(all_notes), execution_(x) {
    here = this;
  }
  ~team_world() { here = nullptr; }

  execution& x() const noexcept { return execution_; }
  host_port host() {
    return {this,
            [](void* self, device_event const& r) {
              auto& w = *static_cast<team_world*>(self);
              if (w.on_event) w.on_event(r);
            },
            {}};
  }
  /// Called at a note's end: handled, or a dead letter. The last one stops the teams.
  void one_ended() {
    if (++ended == all) stop();
  }
  void stop() {
    arena().header().stop.store(1, memory_order::release);
    scheduler sched{arena()};
    for (std::uint32_t t = 0; t < arena().shape().teams; ++t) sched.ring_doorbell(t);
  }
  /// A thread that runs team `index`, which sleeps at once when it is idle.
  void team_thread(std::uint32_t index, bool pinned_only = false) {
    execution_.thread(index == 0 ? "team 0" : "team 1",
                      [this, index, pinned_only] { run_team(index, pinned_only); });
  }
  void run_team(std::uint32_t index, bool pinned_only = false, round_limits limits = {});
  /// Posts `count` notes as `sender`, each until it is accepted.
  void send_all(std::uint32_t sender, actor_id to, std::uint32_t count,
                std::uint8_t priority = default_priority) {
    scheduler sched{arena()};
    for (std::uint32_t n = 0; n < count;) {
      if (post(sched, to, {sender, n}, priority) == errc::ok)
        ++n;
      else
        relax();
    }
  }
  /// The counters at some moment, possibly while a team publishes them.
  actor_totals totals_seen(std::uint32_t index) const {
    actor_totals t;
    while (!arena().owner_of(index).totals.try_read(t)) relax();
    return t;
  }
  actor_totals totals(std::uint32_t index) const {
    actor_totals t;
    execution_.require(arena().owner_of(index).totals.try_read(t), "totals are whole when all rest");
    return t;
  }
  /// G1; nobody owns the actor; and W4: every queued actor is marked, and every marked actor is queued.
  void require_at_rest(std::uint32_t index, std::uint64_t handled) const {
    actor_word const word{arena().cell(index).word.load(memory_order::relaxed)};
    auto const t = totals(index);
    execution_.require(!word.has(actor_word::running), "nobody runs it");
    execution_.require(t.handled == handled && t.accepted == handled,
                       "accepted = handled, and as many as were sent");
    auto const gate = arena().cell(index).gate.seen();
    mailbox_limits const limits{arena().cell(index).limits.load(memory_order::relaxed)};
    execution_.require(!arena().has_gates() || gate.bits() == 0 ||
                           (gate.ring() == word.ring() &&
                            gate.room() == (gate.ring() == 0 ? 0 : std::int64_t{limits.capacity()})),
                       "the gate has all room of the mailbox");
    for (int band = 0; band < ready_bands; ++band) {
      auto const& positions = *arena().ready(band).positions;
      auto stand = positions.tail.load(memory_order::relaxed) - positions.head.load(memory_order::relaxed);
      for (std::uint32_t i = 0; i < arena().shape().actors; ++i)
        stand -=
            actor_word{arena().cell(i).word.load(memory_order::relaxed)}.has(actor_word::queued_in(band));
      execution_.require(stand == 0, "as many stand in a band's queue as are marked");
    }
  }

  static inline team_world* here = nullptr;
  std::function<void(device_event const&)> on_event;
  std::function<void(note)> on_note;  // a receiver handled it
  std::uint32_t all = 0, ended = 0, tries = 0, next_note = 0;

 private:
  execution& execution_;
};

/// Enters each note in its book, which lies in its state, in watched memory.
struct receiver {
  using messages = rondo::messages<note>;
  ledger book;
  void on(context&, note const& n) {
    auto& w = *team_world::here;
    book.enter(w.x(), n);
    if (w.on_note) w.on_note(n);
    w.one_ended();
  }
};

/// The same, but takes notes that are next to each other by one call.
struct gatherer {
  using messages = rondo::messages<note>;
  ledger book;
  void on(context&, batch<note> const& some) {
    auto& w = *team_world::here;
    for (auto const& n : some) {
      book.enter(w.x(), n);
      w.one_ended();
    }
  }
};

/// Passes each note to the actor next to it.
struct relay {
  using messages = rondo::messages<note>;
  ledger book;
  void on(context& ctx, note const& n) {
    auto& w = *team_world::here;
    book.enter(w.x(), n);
    w.one_ended();
    auto const outcome = ctx.tell(address<receiver>{{ctx.self().index + 1, 1}}, n);
    w.x().require(outcome == errc::ok, "the next actor has room");
  }
};

/// Fails at the first try of each note.
struct fragile {
  using messages = rondo::messages<note>;
  void on(context& ctx, note const&) {
    if (++team_world::here->tries % 2 != 0) return ctx.fail();
    team_world::here->one_ended();
  }
};

/// Fails at the first try of note 2, and gets all in their turn.
struct stumbler {
  using messages = rondo::messages<note>;
  void on(context& ctx, note const& n) {
    auto& w = *team_world::here;
    if (n.number == 2 && w.tries++ == 0) return ctx.fail();
    w.x().require(n.number == w.next_note++, "the notes come in turn");
    w.one_ended();
  }
};

/// Sends itself an urgent note for each of sender 0 from number 2 on: by then it handles a window.
struct hasty {
  using messages = rondo::messages<note>;
  bool waits;
  void on(context& ctx, note const& n) {
    auto& w = *team_world::here;
    w.x().require(waits == (n.sender == 1), "what an actor sends itself urgently comes next");
    waits = n.sender == 0 && n.number >= 2;
    if (waits)
      w.x().require(ctx.tell(ctx.self_as<hasty>(), note{1, n.number}, {.priority = 255}) == errc::ok,
                    "there is room");
    w.one_ended();
  }
};

/// Fails at every second note, and must have started before each.
struct starter {
  using messages = rondo::messages<note>;
  bool has_started;
  void on_start(context&) { has_started = true; }
  void on(context& ctx, note const& n) {
    auto& w = *team_world::here;
    w.x().require(has_started, "on_start comes before mail");
    w.one_ended();
    if (n.number % 2 == 0) ctx.fail();
  }
};

/// Shares each note's work with the other teams.
struct worker {
  using messages = rondo::messages<note>;
  std::uint32_t marks[3];
  std::uint32_t finished;
  std::uint32_t tiles(context&, note const& n) { return n.number; }
  void tile(context&, note const&, std::uint32_t i) { ++marks[i]; }
  void finish(context&, note const& n) {
    auto& w = *team_world::here;
    ++finished;
    for (std::uint32_t i = 0; i < n.number; ++i)
      w.x().require(marks[i] == finished, "each tile ran once, and its work is seen");
    w.one_ended();
  }
};

/// Takes as many steps as the note's number says, which count as handled notes of the world.
struct walker {
  using messages = rondo::messages<note, again>;
  std::uint32_t left;
  void on(context& ctx, note const& n) {
    left += n.number;
    ctx.again();
    team_world::here->one_ended();
  }
  void on(context& ctx, again const&) {
    if (--left != 0) ctx.again();
    team_world::here->one_ended();
  }
};

/// Fails when it goes on.
struct quitter {
  using messages = rondo::messages<note, again>;
  void on(context& ctx, note const&) { ctx.again(); }
  void on(context& ctx, again const&) { ctx.fail(); }
};

/// Sends as many notes as its own one says to the actor in cell 0, and waits when that has no room.
struct feeder {
  using messages = rondo::messages<note, room>;
  std::uint32_t sender, next, count;
  void on(context& ctx, note const& n) {
    sender = n.sender;
    count = n.number;
    send(ctx);
    team_world::here->one_ended();
  }
  void on(context& ctx, room const&) { send(ctx); }
  void send(context& ctx) {
    address<receiver> const to{{0, 1}};
    for (; next < count; ++next) {
      auto const outcome = ctx.tell(to, note{sender, next});
      if (outcome == errc::mailbox_full) return ctx.when_room(to);
      if (outcome == errc::ok) continue;
      team_world::here->x().require(outcome == errc::actor_gone, "it is full, or gone");
      for (; next < count; ++next) team_world::here->one_ended();
    }
  }
};

/// Stashes the notes of sender 0 until the third one of sender 1 has come.
struct hoarder {
  using messages = rondo::messages<note>;
  ledger book;
  bool is_open;
  void on(context& ctx, note const& n) {
    if (n.sender == 1 && n.number == 2) is_open = true, ctx.unstash();
    if (n.sender == 0 && !is_open) return ctx.stash();
    book.enter(team_world::here->x(), n);
    team_world::here->one_ended();
  }
};

/// Watches the actor in cell 1 from its first note on.
struct watcher {
  using messages = rondo::messages<note, rondo::ended>;
  std::uint32_t heard;
  void on(context& ctx, note const&) {
    ctx.watch({1, 1});
    team_world::here->one_ended();
  }
  void on(context& ctx, rondo::ended const& m) {
    auto& w = *team_world::here;
    w.x().require(m.who == actor_id{1, 1} && ++heard == 1, "it hears once of the actor that it watches");
    w.x().require(ctx.tell(address<receiver>{m.who}, note{}) == errc::actor_gone, "who has ended is gone");
    w.one_ended();
  }
};

/// A note with so much behind it that a run of three takes three slots.
struct page {
  note head;
  std::uint32_t text[18];
};
static_assert(sizeof(page) == 80);
inline page make_page(note head) {
  page p{head, {}};  // zeros: what a free slot's sequence may be
  for (std::uint32_t i = 1; i < std::size(p.text); i += 2) p.text[i] = head.number * 100 + i;
  return p;
}

/// Enters pages and urgent notes.
struct reader {
  using messages = rondo::messages<page, note>;
  ledger book;
  void on(context&, page const& p) { enter(p); }
  void on(context&, note const& n) {
    book.enter(team_world::here->x(), n);
    team_world::here->one_ended();
  }
  void enter(page const& p) {
    auto& w = *team_world::here;
    book.enter(w.x(), p.head);
    auto const whole = make_page(p.head);
    w.x().require(std::memcmp(&p, &whole, sizeof p) == 0, "a page comes as it was sent");
    w.one_ended();
  }
};
/// Takes as many pages at once as it may.
struct librarian {
  using messages = rondo::messages<page>;
  reader desk;
  void on(context&, batch<page> const& some) {
    for (auto const& p : some) desk.enter(p);
  }
};

using behaviours = module_of<receiver, relay, fragile, worker, gatherer, walker, feeder, hoarder, watcher,
                             reader, librarian, quitter, hasty, starter, stumbler>;

inline void team_world::run_team(std::uint32_t index, bool pinned_only, round_limits limits) {
  mail_window window;
  auto port = host();
  port.mail = &window;
  ring_kernel<behaviours> kernel{
      arena(), team{index}, port, {.spin_ns = 0, .park = true, .pinned_only = pinned_only}};
  kernel.run(limits);
}

/// One actor, one ring of four slots, and no message whose latency is sampled.
inline arena_shape mailbox_of_four() {
  return {.actors = 1,
          .rings = 1,
          .ring_slots = 4,
          .teams = 1,
          .latency_sample_every = 1 << 20,
          .heap_bytes = 1024};
}

/// Launches an actor of `capacity` in cell `index`, owned by `team` if there is one.
template <class Behaviour>
actor_id launch_in(team_world& w, std::uint32_t index, std::uint32_t capacity,
                   std::optional<std::uint16_t> team = {}, std::uint32_t generation = 1) {
  scheduler sched{w.arena()};
  auto s = w.spec(index, capacity, generation);
  s.behaviour = behaviours::index_of<Behaviour>();
  s.pinned = team.has_value();
  s.team = team.value_or(0);
  launch_actor<behaviours>(sched, s);
  return s.id;
}

}  // namespace model
