// Both rings between host and device: submissions through the I/O team, completions to one poller.
#include <deque>

#include "kernels/grid/io_team.hpp"
#include "runtime/device/queue/host_queues.hpp"
#include "tests/model/arena_world.hpp"
#include "tests/model/bus_world.hpp"
#include "tests/model/scenarios.hpp"

namespace model {

namespace {

/// How the notes of a sender ended.
struct endings {
  std::uint32_t accepted[2], in_mailbox[2][8], refused[2][8];
};

/// A queue pair with its host side, and the completions that arrive.
struct queue_world {
  queue_world(execution& in, std::uint32_t down_slots, std::uint32_t up_slots, bool parks)
      : x(in),
        queues({make_ring<submission>(in, down_slots), make_ring<device_event>(in, up_slots)}, no_owners,
               {0, parks, false}),
        ended(in.shared<endings>()),
        emitters(in.shared<atomic<std::uint32_t>>()),
        orders(in.shared<atomic<std::uint64_t>>()) {}

  execution& x;
  team_owners no_owners{0, 0, 0};
  host_queues<> queues;
  endings& ended;  // `accepted` is set by the senders, the rest by the poller or after the run
  atomic<std::uint32_t>& emitters;  // the emitters that have not ended
  atomic<std::uint64_t>& orders;    // the I/O team's
  idle_policy idle{0, true, false};

  /// A team's port to the host, as the devices implement it.
  static void emit(void* self, device_event const& r) {
    auto& w = *static_cast<queue_world*>(self);
    w.x.require(w.queues.queues().up.push(r, memory_order::release, [] { return relax(), true; }),
                "an event that waits for room is written");
    w.queues.poller().bell().ring();
  }
  host_port port() { return {this, emit}; }
  void emitter_ends() {
    // Acquire: the last emitter to end has seen the writes of the others.
    if (emitters.fetch_sub(1, memory_order::acq_rel) == 1) queues.poller().end();
  }

  /// Retries until the submission is accepted or finally refused.
  errc post(actor_id to, note first, std::uint32_t count = 1) {
    note notes[2] = {first, {first.sender, first.number + 1}};
    for (;;) {
      auto const header = note_header();
      auto const outcome = queues.submit({to, header, notes, sizeof(note), sizeof(note), count}, {});
      if (outcome == errc::ok) ended.accepted[first.sender] += count;
      if (outcome != errc::device_busy) return outcome;
      relax();
    }
  }

  /// Takes completions until the last emitter has ended the poller.
  void poll() {
    queues.poller().run([&](device_event const& r) {
      note n{};
      __builtin_memcpy(&n, r.body.payload, sizeof n);
      x.require(r.kind == event_kind::dead_letter && r.body.bytes == sizeof n && n.sender < 2 && n.number < 8,
                "a completion names its note");
      ++ended.refused[n.sender][n.number];
    });
  }

  /// After the run: takes the mail of an actor, in order by sender.
  void take_mail(arena_world& w, std::uint32_t index) {
    scheduler sched{w.arena(), true};
    sched.claim(index, actor_word::queued_mask);
    owned_mail mail{sched, index};
    std::uint32_t next[2] = {0, 0};
    for (note n{}; mail.try_take(n);) {
      x.require(n.sender < 2 && n.number >= next[n.sender], "notes of one sender arrive in the order sent");
      next[n.sender] = n.number + 1;
      ++ended.in_mailbox[n.sender][n.number];
    }
  }
  /// L3.
  void check_that_each_ended_once() {
    for (std::uint32_t s = 0; s < 2; ++s)
      for (std::uint32_t n = 0; n < 8; ++n)
        x.require(ended.in_mailbox[s][n] + ended.refused[s][n] == (n < ended.accepted[s] ? 1u : 0u),
                  "an accepted note ends once");
  }
};

/// One sender posts a note and a batch to an actor without room for all; another one launches an actor, posts to it and
/// signals it. The refusals arrive as completions, next to the events of a second team.
void submissions_end_once(execution& x) {
  arena_world a{x, {.actors = 2, .rings = 2, .ring_slots = 2, .teams = 1, .heap_bytes = 512}};
  queue_world w{x, 2, 2, true};
  auto const old = a.launch(0, 2);
  auto const spec = a.spec(1, 1);
  w.emitters.store(2, memory_order::relaxed);
  x.thread("sender 0", [&] {
    x.require(w.post(old, {0, 0}) == errc::ok, "the way is open");
    x.require(w.post(old, {0, 1}, 2) == errc::ok, "the way is open");
  });
  x.thread("sender 1", [&] {
    x.require(w.queues.launch(spec) == errc::ok && w.post(spec.id, {1, 0}) == errc::ok &&
                  w.queues.signal(spec.id, control_inspect) == errc::ok,
              "the way is open");
  });
  x.thread("I/O team", [&] {
    io_window window;
    io_team<module_of<taker>> io{a.arena(), w.queues.queues().down, w.orders, w.port(), team{0}, window};
    idle_thread waiting{w.idle.spin_ns, w.idle.park};
    for (std::uint32_t taken = 0; taken < 6;) {
      auto const more = io.step(2);
      taken += more;
      if (more != 0)
        waiting.worked();
      else
        waiting.wait(w.queues.io_bell(), !io.has_work(), [&] { return io.has_work(); });
    }
    x.require(!io.has_work(), "nothing is submitted twice");
    w.emitter_ends();
  });
  x.thread("team", [&] {  // an actor's own dead letter: note 7 of sender 1, which nobody posted
    device_event r{.kind = event_kind::dead_letter, .reason = errc::terminated};
    note const n{1, 7};
    r.body.bytes = sizeof n;
    __builtin_memcpy(r.body.payload, &n, sizeof n);
    w.port().emit(r);
    w.emitter_ends();
  });
  x.thread("poller", [&] { w.poll(); });
  x.run();
  w.take_mail(a, 0);
  w.take_mail(a, 1);
  x.require(w.ended.refused[1][7]-- == 1, "the other team's event came up once");
  w.check_that_each_ended_once();
  x.require(w.ended.in_mailbox[1][0] == 1, "a launch comes before the posts that follow it");
  x.require((a.arena().owner_of(1).control.load(memory_order::relaxed) & control_inspect) != 0,
            "the signal arrived");
}

/// The device ends while senders post, and is restarted. Accepted submissions end once, in the mailbox or refused to
/// the sender; for the others the sender gets the reason.
void ending_answers_everybody(execution& x) {
  arena_world a{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}};
  queue_world w{x, 2, 2, true};
  auto const id = a.launch(0, 2);
  auto& senders = x.shared<atomic<std::uint32_t>>(2u);
  w.emitters.store(1, memory_order::relaxed);
  for (std::uint32_t s = 0; s < 2; ++s)
    x.thread(s == 0 ? "sender 0" : "sender 1", [&, s] {
      auto outcome = errc::ok;
      for (std::uint32_t n = 0; n < 2 && outcome == errc::ok; ++n) outcome = w.post(id, {s, n});
      x.require(outcome == errc::ok || outcome == errc::stopped, "who is refused hears why");
      senders.fetch_sub(1, memory_order::release);
    });
  x.thread("I/O team", [&] {
    io_window window;
    io_team<module_of<taker>> io{a.arena(), w.queues.queues().down, w.orders, w.port(), team{0}, window};
    for (int i = 0; i < 2; ++i) io.step(1);
    w.queues.close(errc::stopped);
    auto const last = w.queues.queues().down.tail();
    while (io.head() < last)
      if (!io.refuse_next(errc::stopped)) relax();
    x.require(!io.has_work(), "nothing is submitted after the end");
    w.queues.reopen();
    for (bool ending = false; !ending || io.has_work();) {
      ending = senders.load(memory_order::acquire) == 0;
      if (io.step(2) == 0) relax();
    }
    w.emitter_ends();
  });
  x.thread("poller", [&] { w.poll(); });
  x.run();
  w.take_mail(a, 0);
  w.check_that_each_ended_once();
}

/// The host's part of L5, as runtime/messaging/mail_lines.hpp has it: what has come back waits in a line.
struct returning_host {
  queue_world& w;
  actor_id to;
  atomic<std::uint32_t>& epoch = w.x.shared<atomic<std::uint32_t>>();
  atomic<std::uint32_t>& waits = w.x.shared<atomic<std::uint32_t>>();  // 1: senders stay away
  // -- the poller's
  std::deque<note> line{};     // the first one is in transit
  bool has_come_back = false;  // the first one, again

  /// False: the epoch was over.
  bool submit(note const& n, far_terms terms) const {
    auto const header = note_header();
    for (;; relax())
      if (auto const outcome = w.queues.submit({to, header, &n, sizeof n}, terms);
          outcome != errc::device_busy)
        return outcome == errc::ok;
  }
  /// A sender's try_tell, until nothing waits.
  void send(note const& n) const {
    for (;; relax()) {
      auto const in = epoch.load(memory_order::acquire);
      if (waits.load(memory_order::relaxed) == 0 &&
          submit(n, {{}, post_order::in_epoch, {static_cast<std::uint16_t>(in)}, &epoch}))
        return;
    }
  }
  void resend() {
    has_come_back = false;
    mail_epoch const in{static_cast<std::uint16_t>(epoch.load(memory_order::relaxed))};
    submit(line.front(), {{host_ask_bit | 1, 1}, post_order::resent, in});
  }
  void on_event(device_event const& r) {
    if (r.kind == event_kind::returned) {
      returned_mail about;
      note n;
      __builtin_memcpy(&about, &r.detail, sizeof about);
      __builtin_memcpy(&n, r.body.payload, sizeof n);
      waits.store(1, memory_order::relaxed);
      if (about.resent != 2 && epoch.load(memory_order::relaxed) == about.epoch)
        epoch.store(mail_epoch{about.epoch}.next().bits, memory_order::release);
      if (about.resent != 0) {
        has_come_back = true;
        return;
      }
      line.push_back(n);
      if (line.size() == 1) resend();
      return;
    }
    w.x.require(r.kind == event_kind::reply && !line.empty(), "a verdict comes for what is in transit");
    if (!has_come_back) line.pop_front();
    if (!line.empty()) return resend();
    waits.store(0, memory_order::relaxed);
  }
};

/// Four notes to a mailbox with room for one, which is often empty again when the next one comes: none is lost or
/// overtaken.
void returned_mail_keeps_its_order(execution& x) {
  arena_world a{x, {.actors = 1, .rings = 1, .ring_slots = 2, .teams = 1, .heap_bytes = 256}};
  queue_world w{x, 2, 2, true};
  returning_host host{w, a.launch(0, 1)};
  w.emitters.store(1, memory_order::relaxed);
  x.thread("sender", [&] {
    for (std::uint32_t n = 0; n < 4; ++n) host.send({0, n});
  });
  x.thread("device", [&] {
    io_window window;
    io_team<module_of<taker>> io{a.arena(), w.queues.queues().down, w.orders, w.port(), team{0}, window};
    scheduler sched{a.arena(), true};
    owned_mail mail{sched, 0};
    ledger taken;
    for (std::uint32_t steps = 0; taken.taken < 4; ++steps) {
      if (io.step(1) == 0) relax();
      note n{};
      if (steps % 2 == 1 && mail.try_take(n)) taken.enter(x, n);
    }
    while (io.step(1) != 0) {
    }
    w.emitter_ends();
  });
  x.thread("poller", [&] { w.queues.poller().run([&](device_event const& r) { host.on_event(r); }); });
  x.run();
}

/// A team has written a completion and halts; the host knows that, and waits until the sink has processed the
/// completion. Then another one arrives, and the end.
void poller_drains(execution& x) {
  queue_world w{x, 2, 2, true};
  auto& turn = x.shared<atomic<std::uint32_t>>();
  auto& taken = x.shared<std::uint32_t>();
  auto const await = [&](std::uint32_t number) {
    while (turn.load(memory_order::acquire) != number) relax();
  };
  x.thread("team", [&] {
    w.port().emit({.kind = event_kind::room});
    turn.store(1, memory_order::release);
    await(2);
    w.port().emit({.kind = event_kind::room});
    turn.store(3, memory_order::release);
  });
  x.thread("host", [&] {
    await(1);
    x.require(w.queues.poller().drain(std::chrono::hours{1}), "the poller comes to it");
    x.require(taken == 1, "the sink has had all that was written");
    turn.store(2, memory_order::release);
    await(3);
    w.queues.poller().end();
  });
  x.thread("poller", [&] { w.queues.poller().run([&](device_event const&) { ++taken; }); });
  x.run();
  x.require(taken == 2, "none is left at the end");
}

}  // namespace

std::vector<scenario> queue_pair_scenarios() {
  return {
      {"queue_pair",
       "each submission ends once, in its mailbox or in a completion, in the order of its sender",
       submissions_end_once, bounds{2, 0}, bounds{1, 1}},
      {"queue_pair_end",
       "when the device ends, what was accepted ends once, and who is refused hears why; then it goes on",
       ending_answers_everybody, bounds{2, 1}, bounds{1, 1}},
      {"queue_return", "a message that finds no room comes back, and is neither lost nor overtaken",
       returned_mail_keeps_its_order, bounds{2, 0}, bounds{1, 0}},
      {"queue_drain", "who drains the poller finds that the sink has had every completion", poller_drains,
       bounds{2, 2}, bounds{2, 1}},
  };
}

}  // namespace model
