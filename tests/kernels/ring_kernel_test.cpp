// The ring kernel, driven by hand in threads over an arena: no runtime, a host that only notes its records.
#include "kernels/ring_kernel.hpp"

#include <algorithm>
#include <functional>
#include <mutex>

#include "tests/kernels/arena_fixture.hpp"

using namespace rondo_test;

namespace {

std::atomic<std::uint32_t> wrong_self{0};
std::atomic<bool> hold{false}, holding{false};

struct add {
  std::uint32_t sender, number;
};
struct get {};
struct sums {
  std::uint64_t count, disorder;
};
struct spread {
  std::uint32_t tiles;
};
struct block {};
struct broken {
  std::uint32_t times;
};
struct unheard {};

/// Counts what comes, checks the order of each sender, answers.
struct counter {
  using messages = rondo::messages<add, ask<get, sums>>;
  sums s{};
  std::uint32_t next[4] = {};
  void on(context&, add const& m) {
    s.disorder += m.number != next[m.sender]++;
    ++s.count;
  }
  void on(context& ctx, get const&) { ctx.reply(s); }
};

/// As counter, by batches.
struct batcher {
  using messages = rondo::messages<add, ask<get, sums>>;
  sums s{};
  std::uint32_t next[4] = {};
  void on(context&, batch<add> const& b) {
    for (auto const& m : b) {
      s.disorder += m.number != next[m.sender]++;
      ++s.count;
    }
  }
  void on(context& ctx, get const&) { ctx.reply(s); }
};

/// Hands each message on; tries again later when its target is full.
struct relay {
  using messages = rondo::messages<add, address<counter>>;
  address<counter> to{};
  void on(context&, address<counter> const& m) { to = m; }
  void on(context& ctx, add const& m) {
    if (ctx.send(to, m) != errc::ok) ctx.fail();
  }
};

/// Wide messages; counts tiles in `done` until `finish` checks them.
struct worker {
  using messages = rondo::messages<spread, ask<get, sums>>;
  sums s{};
  atomic<std::uint32_t> tiles_done, running;
  std::uint32_t tiles(context&, spread const& m) {
    s.disorder += running.exchange(1, memory_order::relaxed) != 0;
    tiles_done.store(0, memory_order::relaxed);
    return m.tiles;
  }
  void tile(context& ctx, spread const&, std::uint32_t) {
    if (ctx.sched().arena().state(ctx.sched().arena().cell(ctx.self().index)) !=
        reinterpret_cast<std::byte*>(this))
      ++wrong_self;
    tiles_done.fetch_add(1, memory_order::relaxed);
  }
  void finish(context&, spread const& m) {
    s.disorder += tiles_done.load(memory_order::relaxed) != m.tiles;
    s.disorder += running.exchange(0, memory_order::relaxed) != 1;
    ++s.count;
  }
  void on(context& ctx, get const&) { ctx.reply(s); }
};

/// Keeps its team busy for as long as the test wants.
struct blocker {
  using messages = rondo::messages<block>;
  void on(context&, block const&) {
    holding = true;
    while (hold) std::this_thread::yield();
    holding = false;
  }
};

/// Fails as often as a message says.
struct fragile {
  using messages = rondo::messages<broken, ask<get, sums>>;
  std::uint32_t starts = 0;
  static inline std::atomic<std::uint32_t> attempts{0}, started{0};
  void on_start(context&) { ++started, ++starts; }
  void on(context& ctx, broken const& m) {
    if (++attempts <= m.times) ctx.fail();
  }
  void on(context& ctx, get const&) { ctx.reply(sums{starts, 0}); }
};

/// Answers with what its lanes computed together.
struct crowd {
  using messages = rondo::messages<ask<get, sums>>;
  static constexpr bool cooperative = true;
  void on(context& ctx, get const&) {
    std::uint64_t mine = 0;
    for (auto const i : ctx.lanes(100)) mine += i;
    auto const total = ctx.team().sum(mine);
    ctx.reply(sums{total, 0});
  }
};

using behaviours = module_of<counter, batcher, relay, worker, blocker, fragile, crowd>;

/// An arena, its teams' threads, and a host that keeps the records.
class machine {
 public:
  explicit machine(std::uint32_t teams, std::uint32_t actors = 8, std::uint32_t rings = 8)
      : arena({.actors = actors, .rings = rings, .ring_slots = 16, .teams = teams, .heap_bytes = 1 << 16}),
        teams_(teams) {}
  ~machine() { stop(); }

  host_port host() {
    return {this, [](void* self, host_record const& r) { static_cast<machine*>(self)->note_record(r); }, {}};
  }
  void start_team(std::uint32_t t, idle_policy idle = {.spin_ns = 1'000}) {
    threads_.emplace_back([this, t, idle] {
      ring_kernel<behaviours>{arena.ref(), team{t}, host(), idle}.run({});
    });
  }
  void start() {
    for (std::uint32_t t = 0; t < teams_; ++t) start_team(t);
  }
  void stop() {
    hold = false;
    arena.ref().header().stop.store(1, memory_order::release);
    for (std::uint32_t t = 0; t < teams_; ++t) scheduler{arena.ref()}.ring_doorbell(t);
    for (auto& t : threads_) t.join();
    threads_.clear();
  }

  template <class B>
  launch_spec spec_of(std::uint32_t index, std::uint32_t capacity = 16) {
    return arena.spec(index, capacity, behaviours::index_of<B>());
  }
  template <class B>
  actor_id launch(std::uint32_t index, std::uint32_t capacity = 16) {
    return launch(spec_of<B>(index, capacity));
  }
  actor_id launch(launch_spec const& s) {
    scheduler sched{arena.ref()};
    launch_actor<behaviours>(sched, s);
    return s.id;
  }
  template <class M>
  errc tell(actor_id to, M const& m, message_header h = {}) {
    h.type = type_id<M>;
    return scheduler{arena.ref()}.post(to, h, &m, sizeof m);
  }
  template <class M>
  errc tell_until_taken(actor_id to, M const& m, message_header h = {}) {
    errc status = errc::mailbox_full;
    eventually([&] { return (status = tell(to, m, h)) != errc::mailbox_full && status != errc::arena_full; });
    return status;
  }
  /// Sends a request whose answer is a record with this number as reply_to.generation.
  template <class M>
  errc ask_for(actor_id to, M const& m, std::uint32_t number, message_header h = {}) {
    h.flags |= flag_wants_reply;
    h.reply_to = {host_ask_bit, number};
    return tell_until_taken(to, m, h);
  }

  std::vector<host_record> records(record_kind kind) {
    std::lock_guard const lock{mutex_};
    std::vector<host_record> found;
    for (auto const& r : records_)
      if (r.kind == kind) found.push_back(r);
    return found;
  }
  std::size_t count(record_kind kind) { return records(kind).size(); }
  bool wait_for(record_kind kind, std::size_t n) {
    return eventually([&] { return count(kind) >= n; });
  }
  template <class T>
  T answer(std::uint32_t number) {
    T result{};
    eventually([&] {
      for (auto const& r : records(record_kind::reply))
        if (r.body.header.reply_to.generation == number && r.reason == errc::ok) {
          std::memcpy(&result, r.body.payload, sizeof result);
          return true;
        }
      return false;
    });
    return result;
  }
  actor_totals totals(actor_id id) {
    actor_totals t{};
    eventually([&] { return arena.ref().cell(id.index).totals.try_read(t); });
    return t;
  }
  bool at_rest(actor_id id) {
    return eventually([&] {
      auto const t = totals(id);
      return !arena.word(id).has(actor_word::running | actor_word::queued_mask) &&
             t.accepted == t.handled + t.rejected + t.dead;
    });
  }

  test_arena arena;
  std::function<void(host_record const&)> on_record;  // runs on the team's thread

 private:
  void note_record(host_record const& r) {
    {
      std::lock_guard const lock{mutex_};
      records_.push_back(r);
    }
    if (on_record) on_record(r);
  }
  std::uint32_t teams_;
  std::mutex mutex_;
  std::vector<host_record> records_;
  std::vector<std::thread> threads_;
};

/// Several host threads tell one actor; it must count all of them, in each sender's order.
template <class B>
void many_senders(bool pinned) {
  machine m{2};
  auto spec = m.spec_of<B>(0);
  spec.pinned = pinned;
  spec.team = 1;
  auto const id = m.launch(spec);
  m.start_team(0);
  m.start_team(1, {.spin_ns = 1'000, .park = true, .pinned_only = pinned});
  std::uint32_t const senders = 3, each = 2'000;
  std::vector<std::thread> threads;
  for (std::uint32_t s = 0; s < senders; ++s)
    threads.emplace_back([&, s] {
      for (std::uint32_t n = 0; n < each; ++n) m.tell_until_taken(id, add{s, n});
    });
  for (auto& t : threads) t.join();
  REQUIRE(m.ask_for(id, get{}, 1) == errc::ok);
  auto const s = m.answer<sums>(1);
  CHECK(s.count == senders * each);
  CHECK(s.disorder == 0);
  if (!pinned) CHECK(m.at_rest(id));
  m.stop();
  CHECK(m.totals(id).handled == senders * each + 1);
  CHECK(m.totals(id).accepted == senders * each + 1);
}

}  // namespace

TEST_CASE("one team handles what was told before it started, and answers", "[ring_kernel]") {
  machine m{1};
  auto const id = m.launch<counter>(0);
  for (std::uint32_t n = 0; n < 5; ++n) REQUIRE(m.tell(id, add{0, n}) == errc::ok);
  REQUIRE(m.ask_for(id, get{}, 77) == errc::ok);
  ring_kernel<behaviours> kernel{m.arena.ref(), team{0}, m.host(), {.park = false}};
  CHECK(kernel.run({.messages = 6}) == 6);  // a bounded round
  CHECK(m.answer<sums>(77).count == 5);
  CHECK(m.totals(id).handled == 6);
}

TEST_CASE("messages of many senders are handled once each and in order", "[ring_kernel][stress][G1][G2]") {
  many_senders<counter>(false);
  many_senders<batcher>(false);
}

TEST_CASE("a pinned actor handles messages of many senders", "[ring_kernel][stress][G1][G2]") {
  many_senders<counter>(true);
  many_senders<batcher>(true);
}

TEST_CASE("a message that its actor does not take is dead, an ask for it rejected", "[ring_kernel][G1]") {
  machine m{1};
  auto const id = m.launch<counter>(0);
  m.start();
  REQUIRE(m.tell(id, unheard{}) == errc::ok);
  REQUIRE(m.wait_for(record_kind::dead_letter, 1));
  CHECK(m.records(record_kind::dead_letter)[0].reason == errc::unknown_message);
  REQUIRE(m.ask_for(id, unheard{}, 5) == errc::ok);
  REQUIRE(m.wait_for(record_kind::reply, 1));
  CHECK(m.records(record_kind::reply)[0].reason == errc::unknown_message);
  REQUIRE(m.at_rest(id));
  CHECK(m.totals(id).dead == 1);
  CHECK(m.totals(id).rejected == 1);
}

TEST_CASE("a message whose deadline has passed is not handled", "[ring_kernel][G12]") {
  machine m{1};
  auto const id = m.launch<counter>(0);
  message_header late;
  late.deadline_us = 1;
  late.stamp(now_ns() - 1'000'000);
  REQUIRE(m.ask_for(id, get{}, 1, late) == errc::ok);
  message_header early;
  early.deadline_us = ~0u;
  early.stamp(now_ns());
  REQUIRE(m.ask_for(id, get{}, 2, early) == errc::ok);
  m.start();
  REQUIRE(m.wait_for(record_kind::reply, 2));
  CHECK(m.records(record_kind::reply)[0].reason == errc::timed_out);
  CHECK(m.records(record_kind::reply)[1].reason == errc::ok);
}

TEST_CASE("a deactivated actor keeps its mail until it is activated", "[ring_kernel][G8]") {
  machine m{2};
  auto const id = m.launch<counter>(0);
  m.start();
  scheduler sched{m.arena.ref()};
  for (std::uint32_t round = 0; round < 50; ++round) {
    REQUIRE(sched.signal(id, control_deactivate));
    REQUIRE(m.wait_for(record_kind::state_changed, 2 * round + 1));
    REQUIRE(m.ask_for(id, get{}, round) == errc::ok);
    CHECK(m.count(record_kind::reply) == round);
    REQUIRE(sched.signal(id, control_activate));
    REQUIRE(m.wait_for(record_kind::reply, round + 1));
  }
  CHECK(m.at_rest(id));
}

TEST_CASE("draining handles what waits, discarding does not; both account for it", "[ring_kernel][G1][G8]") {
  for (auto const how : {control_drain, control_discard}) {
    machine m{1};
    auto const id = m.launch<counter>(0);
    for (std::uint32_t n = 0; n < 10; ++n) REQUIRE(m.tell(id, add{0, n}) == errc::ok);
    scheduler sched{m.arena.ref()};
    REQUIRE(sched.signal(id, how));
    m.start();
    REQUIRE(m.wait_for(record_kind::terminated, 1));
    actor_totals t{};
    std::memcpy(&t, m.records(record_kind::terminated)[0].body.payload, sizeof t);
    CHECK(t.accepted == 10);
    CHECK(t.handled == (how == control_drain ? 10 : 0));
    CHECK(t.dead == (how == control_drain ? 0 : 10));
    CHECK(m.tell(id, add{0, 10}) == errc::actor_gone);
    CHECK_FALSE(sched.signal(id, control_inspect));
  }
}

TEST_CASE("a message that keeps failing its actor is quarantined", "[ring_kernel][G9]") {
  machine m{1};
  fragile::attempts = 0;
  auto spec = m.spec_of<fragile>(0);
  spec.supervise.poison_after = 3;
  auto const id = m.launch(spec);
  REQUIRE(m.tell(id, broken{100}) == errc::ok);
  m.start();
  REQUIRE(m.wait_for(record_kind::dead_letter, 1));
  CHECK(m.records(record_kind::dead_letter)[0].reason == errc::quarantined);
  CHECK(fragile::attempts == 3);
  CHECK(m.at_rest(id));
  CHECK(m.totals(id).failures == 3);
}

TEST_CASE("an actor that may not restart ends with its mail accounted for", "[ring_kernel][G1][G9]") {
  machine m{1};
  fragile::attempts = 0;
  auto spec = m.spec_of<fragile>(0);
  spec.supervise.rule = on_failure::stop;
  auto const id = m.launch(spec);
  for (int i = 0; i < 4; ++i) REQUIRE(m.tell(id, broken{1}) == errc::ok);
  m.start();
  REQUIRE(m.wait_for(record_kind::terminated, 1));
  CHECK(m.count(record_kind::dead_letter) == 4);
  CHECK(m.totals(id).dead == 4);
}

TEST_CASE("lanes of a team run a cooperative handler together", "[ring_kernel][G6]") {
  machine m{1};
  auto const id = m.launch<crowd>(0);
  team_shared shared{};
  std::vector<std::thread> lanes;
  for (std::uint32_t l = 0; l < 3; ++l)
    lanes.emplace_back([&, l] {
      ring_kernel<behaviours>{m.arena.ref(), team{0, l, 3, shared}, m.host(), {.spin_ns = 1'000}}.run({});
    });
  for (std::uint32_t i = 1; i <= 20; ++i) {
    REQUIRE(m.ask_for(id, get{}, i) == errc::ok);
    CHECK(m.answer<sums>(i).count == 4950);
  }
  m.stop();
  for (auto& l : lanes) l.join();
  CHECK(m.count(record_kind::reply) == 20);
}

TEST_CASE("actors end and are followed by others while senders go on", "[ring_kernel][stress][G1][G7]") {
  machine m{2, 4, 4};
  m.start();
  std::atomic<std::uint32_t> generation{1}, accepted{0};
  std::atomic<bool> done{false};
  auto spec = m.spec_of<batcher>(0);
  m.launch(spec);
  std::vector<std::thread> senders;
  for (std::uint32_t s = 0; s < 2; ++s)
    senders.emplace_back([&, s] {
      while (!done) {
        if (m.tell({0, generation}, add{s, 0}) == errc::ok)
          ++accepted;
        else
          std::this_thread::yield();
      }
    });
  scheduler sched{m.arena.ref()};
  std::uint32_t const lives = 200;
  for (std::uint32_t life = 1; life <= lives; ++life) {
    auto const before = accepted.load();
    eventually([&] { return accepted > before; });
    // False says no more than that the actor is gone by now: its owner may obey before the word shows the
    // signal.
    sched.signal({0, life}, life % 2 != 0 ? control_drain : control_discard);
    if (!m.wait_for(record_kind::terminated, life)) break;
    spec.id.generation = life + 1;
    if (life < lives) {
      m.launch(spec);
      generation = life + 1;
    }
  }
  done = true;
  for (auto& s : senders) s.join();
  m.stop();
  auto const ended = m.records(record_kind::terminated);
  REQUIRE(ended.size() == lives);
  std::uint64_t total = 0, unbalanced = 0;
  for (auto const& r : ended) {
    actor_totals t{};
    std::memcpy(&t, r.body.payload, sizeof t);
    total += t.accepted;
    unbalanced += t.accepted != t.handled + t.rejected + t.dead;
  }
  CHECK(total == accepted);
  CHECK(unbalanced == 0);
  CHECK(m.arena.ref().header().free_ring_count.load(memory_order::relaxed) == 4);
}

// Regression: a team that had finished its tiles could take those of the next message that used the job.
TEST_CASE("wide messages of several actors end once each, on their own actor",
          "[ring_kernel][stress][G1][G4]") {
  machine m{3};
  wrong_self = 0;
  std::vector<actor_id> ids;
  for (std::uint32_t i = 0; i < 3; ++i) ids.push_back(m.launch<worker>(i));
  m.start();
  std::uint32_t const each = 3'000;
  std::vector<std::thread> senders;
  for (std::uint32_t s = 0; s < 3; ++s)
    senders.emplace_back([&, s] {
      for (std::uint32_t n = 0; n < each; ++n)
        if (m.tell_until_taken(ids[s], spread{n % 4}) != errc::ok) return;
    });
  for (auto& t : senders) t.join();
  for (std::uint32_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    REQUIRE(m.ask_for(ids[i], get{}, i + 1) == errc::ok);
    auto const s = m.answer<sums>(i + 1);
    CHECK(s.count == each);
    CHECK(s.disorder == 0);
  }
  CHECK(wrong_self == 0);
}

TEST_CASE("wide messages of a pinned actor end on its team", "[ring_kernel][stress][G4]") {
  machine m{2};
  wrong_self = 0;
  auto spec = m.spec_of<worker>(0);
  spec.pinned = true;
  spec.team = 1;
  auto const id = m.launch(spec);
  m.start();
  for (std::uint32_t n = 0; n < 500; ++n) REQUIRE(m.tell_until_taken(id, spread{n % 5}) == errc::ok);
  REQUIRE(m.ask_for(id, get{}, 1) == errc::ok);
  auto const s = m.answer<sums>(1);
  CHECK(s.count == 500);
  CHECK(s.disorder == 0);
  CHECK(wrong_self == 0);
}

// Regression: a pinned team kept the actor it had made ready for itself, and never looked for it.
TEST_CASE("what a pinned actor sends is handled although all other teams were busy", "[ring_kernel]") {
  machine m{2};
  auto const sink = m.launch<counter>(0), busy = m.launch<blocker>(1);
  auto spec = m.spec_of<relay>(2);
  spec.pinned = true;
  spec.team = 1;
  auto const forward = m.launch(spec);
  hold = true;
  m.start_team(0);
  REQUIRE(m.tell(busy, block{}) == errc::ok);
  REQUIRE(eventually([] { return holding.load(); }));
  m.start_team(1, {.spin_ns = 1'000, .park = true, .pinned_only = true});
  REQUIRE(m.tell(forward, address<counter>{sink}) == errc::ok);
  REQUIRE(m.tell(forward, add{0, 0}) == errc::ok);
  REQUIRE(eventually([&] { return m.arena.word(sink).queued(); }));
  hold = false;
  CHECK(eventually([&] { return m.totals(sink).handled == 1; }));
}

// Regression: the team cleared its pinned actor after the host had been told, and so the successor's.
TEST_CASE("a pinned team serves the actor that was launched when its last one ended", "[ring_kernel][G8]") {
  machine m{1};
  auto spec = m.spec_of<counter>(0);
  spec.pinned = true;
  auto const first = m.launch(spec);
  spec.id.generation = 2;
  m.on_record = [&](host_record const& r) {
    if (r.kind == record_kind::terminated && r.actor.generation == 1) m.launch(spec);
  };
  m.start();
  REQUIRE(scheduler{m.arena.ref()}.signal(first, control_drain));
  REQUIRE(m.wait_for(record_kind::terminated, 1));
  REQUIRE(eventually([&] { return m.arena.word(spec.id).has(actor_word::open); }));
  REQUIRE(m.ask_for(spec.id, get{}, 1) == errc::ok);
  CHECK(m.wait_for(record_kind::reply, 1));
}

// Regression: signal sets control, then the word; an owner that obeyed in between never let go.
TEST_CASE("an actor is let go although its signal was obeyed before the word showed it",
          "[ring_kernel][G10]") {
  for (bool const pinned : {false, true}) {
    CAPTURE(pinned);
    machine m{1};
    auto spec = m.spec_of<counter>(0);
    spec.pinned = pinned;
    auto const id = m.launch(spec);
    actor_cell& cell = m.arena.ref().cell(0);
    cell.word.fetch_or(actor_word::signalled, memory_order::acq_rel);  // the second step of a signal
    REQUIRE(m.tell(id, add{0, 0}) == errc::ok);
    m.start();
    bool const let_go = eventually([&] {
      return !m.arena.word(id).has(actor_word::running | actor_word::signalled) && m.totals(id).handled == 1;
    });
    CHECK(let_go);
    cell.control.fetch_or(control_inspect,
                          memory_order::release);  // ends the loop of an owner that got stuck
  }
}

TEST_CASE("signals race with an owner and with each other, and all end", "[ring_kernel][stress][G8]") {
  machine m{2};
  auto const id = m.launch<counter>(0);
  m.start();
  std::vector<std::thread> threads;
  for (std::uint32_t s = 0; s < 2; ++s)
    threads.emplace_back([&, s] {
      scheduler sched{m.arena.ref()};
      for (std::uint32_t n = 0; n < 2'000; ++n) {
        m.tell(id, add{s, n});
        sched.signal(id, control_inspect);
      }
    });
  for (auto& t : threads) t.join();
  CHECK(m.at_rest(id));
  m.arena.ref().cell(0).control.fetch_or(control_inspect,
                                         memory_order::release);  // frees an owner that is stuck
}

// Regression: the restarted state's on_start waited for the next message.
TEST_CASE("a restarted actor starts at once, mail or not", "[ring_kernel][G9]") {
  machine m{1};
  fragile::attempts = 0;
  fragile::started = 0;
  auto spec = m.spec_of<fragile>(0);
  spec.supervise.poison_after = 1;
  auto const id = m.launch(spec);
  m.start();
  REQUIRE(m.tell(id, broken{1}) == errc::ok);
  REQUIRE(m.wait_for(record_kind::dead_letter, 1));
  REQUIRE(m.at_rest(id));
  CHECK(fragile::started == 2);
}
