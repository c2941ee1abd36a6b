// Runs: what a batch looks like in the mailbox, and that a handler, a failure, a priority or a command never shows the
// difference.
#include <array>
#include <vector>

#include "kernels/actor/slice.hpp"
#include "kernels/mail/snapshot.hpp"
#include "tests/kernels/arena_fixture.hpp"

using namespace rondo_test;

namespace mail_run_test {

enum class act : std::uint32_t {
  none,
  fail,
  reject,
  stash,
  unstash,
  send_urgent,
  send_slow,
  sleep,
  stop,
  count
};

struct order {
  std::uint32_t number;
  act what;
};
struct urgent {
  std::uint32_t number;
};

std::vector<std::uint32_t> done;  // the numbers of what was handled; 1000 more for an urgent message

/// Does what each message says.
struct soldier {
  using messages = rondo::messages<order, urgent>;
  std::uint32_t attempts = 0;
  void on(context& ctx, order const& m) {
    address<soldier> const self{ctx.self()};
    if (m.what == act::stash && ++attempts % 3 != 0) return ctx.stash();
    if (m.what == act::fail) return ctx.fail();
    if (m.what == act::reject) return ctx.reject(errc::wrong_state);
    done.push_back(m.number);
    if (m.what == act::unstash) ctx.unstash();
    if (m.what == act::send_urgent) static_cast<void>(ctx.tell(self, urgent{m.number}, {.priority = 255}));
    if (m.what == act::send_slow) static_cast<void>(ctx.tell(self, urgent{m.number}, {.priority = 3}));
    if (m.what == act::sleep) ctx.sched().signal(ctx.self(), control_deactivate);
    if (m.what == act::stop) ctx.sched().arena().header().stop.store(1, memory_order::relaxed);
  }
  void on(context&, urgent const& m) { done.push_back(1000 + m.number); }
};

struct platoon {
  using messages = rondo::messages<order>;
  void on(context& ctx, batch<order> const& b) {
    done.push_back(10'000 + b.size());
    for (auto const& m : b) {
      if (m.what == act::stop) ctx.sched().arena().header().stop.store(1, memory_order::relaxed);
      done.push_back(m.number);
    }
  }
};

struct wide_one {
  using messages = rondo::messages<order>;
  std::uint32_t tiles(context&, order const&) { return 2; }
  void tile(context&, order const&, std::uint32_t) {}
  void finish(context&, order const& m) { done.push_back(m.number); }
};

using soldiers = module_of<soldier, platoon, wide_one>;

struct command {
  order what;
  std::byte padding[8];
};

/// One actor, run by the test's own thread.
class parade {
 public:
  template <class B>
  parade(std::type_identity<B>, arena_shape shape, std::uint32_t start, std::uint8_t batch = 0)
      : arena_(shape), sched_(arena_.ref(), true) {
    done.clear();
    arena_.start_rings_at(start);
    auto s = arena_.spec(0, shape.ring_slots, soldiers::index_of<B>());
    s.batch = batch;
    s.supervise.poison_after = 2;
    s.supervise.max_restarts = 10'000;
    id = s.id;
    launch_actor<soldiers>(sched_, s);
  }

  errc send(std::vector<order> const& orders, bool as_runs) {
    message_header h;
    h.type = type_id<order>;
    std::vector<command> apart;
    for (auto const& o : orders) apart.push_back({o, {}});
    auto const count = static_cast<std::uint32_t>(orders.size());
    auto const* const bytes = as_runs ? reinterpret_cast<std::byte const*>(orders.data())
                                      : reinterpret_cast<std::byte const*>(apart.data());
    return scheduler{arena_.ref()}.post_batch(id, h, bytes, sizeof(order),
                                              as_runs ? sizeof(order) : sizeof(command), count);
  }
  /// Runs until a message stops the machine, or nothing is ready.
  void run_to_stop() {
    auto& stop = arena_.ref().header().stop;
    stop.store(0, memory_order::relaxed);
    for (std::uint32_t index = 0; stop.load(memory_order::relaxed) == 0 && sched_.next(index);)
      slice<soldiers>{sched_, team_, host_, index}.run(1);
  }
  /// Runs until nothing is ready, whoever stops the machine, and wakes the actor if it was put to sleep.
  void run() {
    do {
      sched_.signal(id, control_activate);
      do run_to_stop();
      while (arena_.ref().header().stop.load(memory_order::relaxed) != 0);
    } while (seen().state == lifecycle::deactivated);
  }

  actor_snapshot seen() const { return read_actor(arena_.ref(), 0); }
  std::vector<device_event> const& events() const { return events_; }
  test_arena& arena() { return arena_; }
  scheduler& sched() { return sched_; }

  actor_id id;

 private:
  test_arena arena_;
  scheduler sched_;
  team team_{0};
  std::vector<device_event> events_;
  host_port host_{
      this, [](void* self, device_event const& e) { static_cast<parade*>(self)->events_.push_back(e); }, {}};
};

/// What an observer sees of an actor, without times.
struct story {
  std::vector<std::uint32_t> done;
  std::vector<std::array<std::uint32_t, 4>> events;
  std::vector<std::uint32_t> counts;
  bool operator==(story const&) const = default;
};

/// The same random orders, as runs or singly.
story tell_story(bool as_runs, std::uint32_t start, arena_shape shape, std::uint64_t stream) {
  random_source random{stream};
  parade p{std::type_identity<soldier>{}, shape, start};
  story s;
  std::uint32_t number = 0;
  for (int step = 0; step < 60; ++step) {
    std::vector<order> orders;
    for (auto n = 1 + random.below(shape.ring_slots); n != 0; --n)
      orders.push_back({number++, random.one_in(4)
                                      ? static_cast<act>(random.below(static_cast<std::uint32_t>(act::count)))
                                      : act::none});
    s.counts.push_back(static_cast<std::uint32_t>(p.send(orders, as_runs)));
    auto const before = p.seen();
    s.counts.push_back(before.waiting);
    if (random.one_in(2)) p.run_to_stop();
    if (random.one_in(4)) p.run();
  }
  p.run();
  auto const last = p.seen();
  CHECK(last.totals.accepted == last.totals.handled + last.totals.rejected + last.totals.dead + last.waiting);
  for (auto const n : {last.totals.accepted, last.totals.handled, last.totals.dead, last.totals.failures,
                       std::uint64_t{last.waiting}})
    s.counts.push_back(static_cast<std::uint32_t>(n));
  for (auto const& e : p.events()) {
    order o{};
    std::memcpy(&o, e.body.payload, sizeof o);
    bool const dead = e.kind == event_kind::dead_letter;
    s.events.push_back({static_cast<std::uint32_t>(e.kind), static_cast<std::uint32_t>(e.reason),
                        dead ? o.number : 0, dead ? e.body.header.flags : 0u});
  }
  s.done = done;
  return s;
}

}  // namespace mail_run_test
using namespace mail_run_test;

TEST_CASE("a run brings what was sent, and leaves every other slot alone", "[run]") {
  random_source random;
  for (std::uint32_t const start : {0u, 3u, 60u, tickets_near_overflow})
    for (std::uint32_t bytes = 1; bytes <= max_payload_bytes; ++bytes)
      for (std::uint32_t const count : {2u, 3u, 9u, 40u, 63u}) {
        test_arena a{{.rings = 1, .ring_slots = 64, .heap_bytes = 4096}};
        a.start_rings_at(start);
        auto const ring = a.ref().ring_at(1);
        std::vector<std::byte> sent(bytes * count);
        for (auto& b : sent) b = static_cast<std::byte>(random.below(256));
        message_header h;
        h.type = bytes;
        h.correlation = count;
        auto const ticket = start & ticket_mask;
        mail_run(ring, ticket, count, bytes, h).fill(sent.data());
        REQUIRE(ring.count_at(ticket) == count);
        for (std::uint32_t i = 1; i < 64; ++i) REQUIRE(ring.count_at(ticket + i) == 0);
        REQUIRE(count_waiting(ring, (ticket + count) & ticket_mask) == count);
        mail_run const got{ring, ticket, count};
        run_payloads copy;
        got.copy_to(copy);
        REQUIRE(got.bytes() == bytes);
        REQUIRE(std::memcmp(copy.bytes, sent.data(), sent.size()) == 0);
        got.unpack();
        for (std::uint32_t i = 0; i < count; ++i) {
          REQUIRE(ring.count_at(ticket + i) == 1);
          auto const& slot = ring.slot(ticket + i);
          REQUIRE(std::memcmp(&slot.header, &h, sizeof h) == 0);
          REQUIRE(std::memcmp(slot.payload, sent.data() + i * bytes, bytes) == 0);
        }
        for (auto i = count; i < 64; ++i) REQUIRE(ring.count_at(ticket + i) == 0);
      }
}

TEST_CASE("a batch is sent as runs, which a sampled message begins, as long as a turn at most", "[run][G5]") {
  struct expectation {
    arena_shape shape;
    std::uint32_t start, count;
    std::vector<std::uint32_t> runs;
  };
  auto const shape = [](std::uint32_t slots, std::uint32_t quota, std::uint32_t every) {
    return arena_shape{.actors = 1,
                       .rings = 1,
                       .ring_slots = slots,
                       .quota = quota,
                       .latency_sample_every = every,
                       .heap_bytes = 4096};
  };
  for (auto const& x : std::vector<expectation>{{shape(256, 64, 1 << 20), 1, 200, {64, 64, 64, 8}},
                                                {shape(256, 64, 64), 1, 130, {63, 64, 3}},
                                                {shape(256, 64, 64), 64, 64, {64}},
                                                {shape(256, 64, 4), 2, 9, {2, 4, 3}},
                                                {shape(256, 64, 1), 0, 3, {1, 1, 1}},
                                                {shape(256, 10, 1 << 20), 1, 25, {10, 10, 5}},
                                                {shape(8, 64, 1 << 20), 1, 8, {7, 1}},
                                                {shape(2, 64, 1 << 20), 1, 2, {1, 1}}}) {
    CAPTURE(x.start, x.count);
    parade p{std::type_identity<soldier>{}, x.shape, x.start};
    REQUIRE(p.send(std::vector<order>(x.count), true) == errc::ok);
    auto const ring = p.arena().ref().ring_at(1);
    auto ticket = x.start;
    for (auto const n : x.runs) {
      REQUIRE(ring.count_at(ticket) == n);
      bool const is_sampled = ticket % x.shape.latency_sample_every == 0;
      REQUIRE(((ring.slot(ticket).header.flags & flag_sampled) != 0) == is_sampled);
      ticket += n;
    }
    REQUIRE(p.seen().waiting == x.count);
    p.run();
    CHECK(done.size() == x.count);
    CHECK(p.seen().totals.handled == x.count);
    auto const sampled = (x.start + x.count - 1) / x.shape.latency_sample_every -
                         (x.start == 0 ? 0 : (x.start - 1) / x.shape.latency_sample_every) + (x.start == 0);
    CHECK(p.seen().totals.latency_samples == sampled);
  }
}

TEST_CASE("whether messages come as runs or singly makes no difference", "[run][G1][G2][G3][G5][G6][G9]") {
  std::uint64_t stream = 0;
  for (std::uint32_t const slots : {4u, 16u, 64u})
    for (std::uint32_t const quota : {1u, 5u, 64u})
      for (std::uint32_t const start : {0u, tickets_near_overflow})
        for (int repeat = 0; repeat < 20; ++repeat) {
          ++stream;
          CAPTURE(slots, quota, start, stream, test_seed());
          arena_shape const shape{.actors = 1,
                                  .rings = 1,
                                  .ring_slots = slots,
                                  .quota = quota,
                                  .latency_sample_every = 8,
                                  .heap_bytes = 4096};
          auto const singly = tell_story(false, start, shape, stream);
          auto const as_runs = tell_story(true, start, shape, stream);
          REQUIRE(as_runs.done == singly.done);
          REQUIRE(as_runs.events == singly.events);
          REQUIRE(as_runs.counts == singly.counts);
        }
}

TEST_CASE("a batch handler gets a run at once, but no more than its limit", "[run]") {
  arena_shape const shape{
      .actors = 1, .rings = 1, .ring_slots = 64, .latency_sample_every = 1 << 20, .heap_bytes = 4096};
  std::vector<order> orders;
  for (std::uint32_t i = 0; i < 20; ++i) orders.push_back({i, i == 9 ? act::stop : act::none});
  for (auto const limit : {std::uint8_t{0}, std::uint8_t{8}}) {
    parade p{std::type_identity<platoon>{}, shape, 1, limit};
    REQUIRE(p.send(orders, true) == errc::ok);
    p.run();
    std::vector<std::uint32_t> numbers, sizes;
    for (auto const n : done) (n >= 10'000 ? sizes : numbers).push_back(n % 10'000);
    REQUIRE(numbers.size() == 20);
    for (std::uint32_t i = 0; i < 20; ++i) CHECK(numbers[i] == i);
    CHECK(sizes == (limit == 0 ? std::vector<std::uint32_t>{20} : std::vector<std::uint32_t>{8, 8, 4}));
  }
}

TEST_CASE("a run is unpacked for a wide handler, and when its actor ends", "[run][G1]") {
  arena_shape const shape{.actors = 1, .rings = 1, .ring_slots = 64, .heap_bytes = 4096};
  {
    parade p{std::type_identity<wide_one>{}, shape, 1};
    REQUIRE(p.send({{0, {}}, {1, {}}, {2, {}}}, true) == errc::ok);
    p.run();
    CHECK(done == std::vector<std::uint32_t>{0, 1, 2});
  }
  parade p{std::type_identity<soldier>{}, shape, 1};
  REQUIRE(p.send({{0, {}}, {1, {}}, {2, {}}}, true) == errc::ok);
  p.sched().signal(p.id, control_discard);
  p.run();
  CHECK(done.empty());
  std::vector<std::uint32_t> dead;
  for (auto const& e : p.events())
    if (e.kind == event_kind::dead_letter) {
      order o{};
      std::memcpy(&o, e.body.payload, sizeof o);
      dead.push_back(o.number);
    }
  CHECK(dead == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("a report of depths counts the messages of a waiting run", "[run]") {
  parade p{std::type_identity<soldier>{}, {.actors = 1, .rings = 1, .ring_slots = 64, .heap_bytes = 4096}, 5};
  p.sched().signal(p.id, control_deactivate);
  p.run_to_stop();
  REQUIRE(p.send(std::vector<order>(30), true) == errc::ok);
  message_header h;
  h.type = type_id<urgent>;
  urgent const m{7};
  REQUIRE(p.sched().post(p.id, h, &m, sizeof m) == errc::ok);
  p.sched().signal(p.id, control_inspect);
  p.run_to_stop();
  std::uint32_t reports = 0;
  for (auto const& e : p.events())
    if (e.kind == event_kind::depths) {
      depth_page page{};
      std::memcpy(&page, e.body.payload, sizeof page);
      REQUIRE(page.count == 1);
      CHECK(page.entries[0].messages == 31);
      ++reports;
    }
  CHECK(reports == 1);
}
