// The emulated device, driven without a runtime: order and conservation under delays, full rings, lost
// devices, stops with work in flight, quiet points.
#include "runtime/device/emulated_device.hpp"

#include "tests/kernels/arena_fixture.hpp"

using namespace rondo_test;
using namespace std::chrono_literals;

namespace {

struct report {
  std::uint32_t taken, disorder;
};
struct get_report {};
struct wait_for_gate {};

/// Opened by tests that hold a handler.
std::atomic<bool> gate_open{false};
std::atomic<std::uint32_t> at_gate{0};

/// Notices notes of one sender that come out of order.
struct listener {
  using messages = rondo::messages<note, rondo::ask<get_report, report>, wait_for_gate>;
  std::uint32_t taken = 0, disorder = 0;
  std::uint32_t next[4] = {};

  void on(context&, note const& m) {
    ++taken;
    if (m.number < next[m.sender]) ++disorder;
    next[m.sender] = m.number + 1;
  }
  void on(context& ctx, get_report const&) { ctx.reply(report{taken, disorder}); }
  void on(context&, wait_for_gate const&) {
    ++at_gate;
    while (!gate_open.load()) std::this_thread::yield();
  }
};

/// All lanes add up their shares.
struct adder {
  using messages = rondo::messages<rondo::ask<note, report>>;
  static constexpr bool cooperative = true;
  void on(context& ctx, note const& m) {
    std::uint32_t mine = 0;
    for (auto i : ctx.lanes(m.number)) mine += i;
    ctx.reply(report{ctx.team().sum(mine), ctx.team().lanes()});
  }
};

using test_module = module_of<listener, adder>;
constexpr std::uint16_t listens = 0, adds = 1;

struct setup {
  std::uint32_t teams = 2, pinned_teams = 2, lanes = 1;
  bool park = true;
  round_limits round{};
  emulation_options emulation{};
};

class test_device {
 public:
  explicit test_device(setup const& s = {})
      : shape_({.actors = 8, .rings = 8, .ring_slots = 64, .teams = s.teams + s.pinned_teams}),
        heap_(detail::plan_arena(shape_).heap_at),
        dev_(new emulated_device<test_module>(shape_,
                                              {.teams = s.teams,
                                               .pinned_teams = s.pinned_teams,
                                               .lanes = s.lanes,
                                               .idle = {.spin_ns = 20'000, .park = s.park},
                                               .round = s.round},
                                              s.emulation)) {
    dev_->start([this](host_record const& r) { keep(r); }, {});
  }

  emulated_device<test_module>& operator*() { return *dev_; }
  emulated_device<test_module>* operator->() { return dev_.get(); }
  /// For a device with a thread that hangs.
  static void keep_for_ever(std::unique_ptr<test_device> d) {
    static auto& kept = *new std::vector<test_device*>;  // outlives all threads
    kept.push_back(d.release());
  }

  launch_spec spec(std::uint32_t index, std::uint32_t capacity, std::uint16_t behaviour = listens,
                   std::uint32_t generation = 1) {
    launch_spec s{};
    s.id = {index, generation};
    s.state_offset = heap_;
    heap_ += 256;
    s.capacity = capacity;
    s.behaviour = behaviour;
    s.active = true;
    return s;
  }
  actor_id launch(std::uint32_t index, std::uint32_t capacity, std::uint16_t behaviour = listens) {
    auto const s = spec(index, capacity, behaviour);
    REQUIRE(dev_->launch(s) == errc::ok);
    return s.id;
  }

  template <class Message>
  errc tell(actor_id to, Message const& m, actor_id ack = {}) {
    message_header h;
    h.type = type_id<Message>;
    return dev_->post(to, h, reinterpret_cast<std::byte const*>(&m), sizeof m, sizeof m, 1, ack, false);
  }
  /// Waits for room in the way down; true when the way took the message.
  template <class Message>
  bool tell_patiently(actor_id to, Message const& m) {
    return eventually([&] { return tell(to, m) == errc::ok; });
  }
  template <class Message>
  errc ask(actor_id to, Message const& m, std::uint32_t number) {
    message_header h;
    h.type = type_id<Message>;
    h.flags = flag_wants_reply;
    h.reply_to = {host_ask_bit | number, 1};
    return dev_->post(to, h, reinterpret_cast<std::byte const*>(&m), sizeof m, sizeof m, 1, {}, false);
  }
  static actor_id ack(std::uint32_t number) { return {host_ask_bit | number, 1}; }

  std::uint32_t count(record_kind kind, errc reason = errc::ok, bool any_reason = true) {
    std::lock_guard lock(mutex_);
    std::uint32_t n = 0;
    for (auto const& r : records_) n += r.kind == kind && (any_reason || r.reason == reason);
    return n;
  }
  std::uint32_t count_of(record_kind kind, errc reason) { return count(kind, reason, false); }
  /// The one reply to ask or ack `number`.
  host_record reply(std::uint32_t number) {
    host_record found;
    std::uint32_t replies = 0;
    REQUIRE(eventually([&] {
      std::lock_guard lock(mutex_);
      replies = 0;
      for (auto const& r : records_)
        if (r.kind == record_kind::reply && r.body.header.reply_to == ack(number)) {
          found = r;
          ++replies;
        }
      return replies != 0;
    }));
    CHECK(replies == 1);
    return found;
  }
  std::vector<host_record> all(record_kind kind) {
    std::lock_guard lock(mutex_);
    std::vector<host_record> some;
    for (auto const& r : records_)
      if (r.kind == kind) some.push_back(r);
    return some;
  }
  actor_snapshot look(actor_id id) {
    std::vector<actor_snapshot> actors;
    dev_->read_actors(shape_.actors, actors);
    for (auto const& a : actors)
      if (a.index == id.index) return a;
    return {};
  }

 private:
  void keep(host_record const& r) {
    std::lock_guard lock(mutex_);
    records_.push_back(r);
  }

  arena_shape shape_;
  std::uint64_t heap_;
  std::mutex mutex_;
  std::vector<host_record> records_;
  std::unique_ptr<emulated_device<test_module>> dev_;
};

report report_of(host_record const& r) {
  REQUIRE(r.reason == errc::ok);
  REQUIRE(r.body.header.type == type_id<report>);
  report found{};
  std::memcpy(&found, r.body.payload, sizeof found);
  return found;
}

setup with_delays(std::uint64_t seed, std::uint64_t delay_ns) {
  setup s;
  s.emulation.seed = seed;
  s.emulation.visibility_delay_ns = delay_ns;
  s.emulation.submission_slots = 32;
  s.emulation.completion_slots = 8;
  return s;
}

/// Three senders tell a small actor more than it can hold; each message is handled in order, or is a dead
/// letter.
void flood(setup const& s) {
  test_device d{s};
  auto const to = d.launch(1, 16);
  std::uint32_t const senders = 3, each = 400;
  std::atomic<std::uint32_t> lost{0};
  std::vector<std::thread> threads;
  for (std::uint32_t sender = 0; sender < senders; ++sender)
    threads.emplace_back([&, sender] {
      for (std::uint32_t n = 0; n < each; ++n)
        if (!d.tell_patiently(to, note{sender, n})) ++lost;
    });
  for (auto& t : threads) t.join();
  REQUIRE(lost == 0);
  REQUIRE(eventually(
      [&] { return d.look(to).totals.handled + d.count(record_kind::dead_letter) == senders * each; }));
  auto const totals = d.look(to).totals;
  CHECK(totals.accepted == totals.handled);
  CHECK(d.count_of(record_kind::dead_letter, errc::mailbox_full) == senders * each - totals.handled);
  REQUIRE(d.ask(to, get_report{}, 1) == errc::ok);
  auto const r = report_of(d.reply(1));
  CHECK(r.taken == totals.handled);
  CHECK(r.disorder == 0);
  CHECK(d->stop(10s).stopped);
}

}  // namespace

TEST_CASE("emulated: messages keep their order and are conserved", "[emulated][G1][G2][stress]") {
  flood({});
  flood({.lanes = 2, .park = false});
  flood({.lanes = 2, .round = {.messages = 16, .ns = 1'000'000}});
}

TEST_CASE("emulated: messages keep their order and are conserved when the bus is slow",
          "[emulated][G1][G2][stress]") {
  CAPTURE(test_seed());
  for (std::uint64_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    flood(with_delays(test_seed() + i, i < 3 ? 20'000 : 1'000));
  }
}

TEST_CASE("emulated: all lanes of a team run a cooperative handler", "[emulated][G6]") {
  test_device d{{.lanes = 3}};
  auto const to = d.launch(0, 8, adds);
  for (std::uint32_t n = 0; n < 20; ++n) REQUIRE(d.ask(to, note{0, n}, n) == errc::ok);
  for (std::uint32_t n = 0; n < 20; ++n) {
    auto const r = d.reply(n);
    if (r.reason == errc::mailbox_full) continue;
    CHECK(report_of(r).taken == n * (n == 0 ? 0 : n - 1) / 2);
    CHECK(report_of(r).disorder == 3);
  }
  CHECK(d->shared_arena() == nullptr);
}

TEST_CASE("emulated: an ack tells what the mailbox said, and a batch goes in whole", "[emulated][G5]") {
  test_device d;
  auto s = d.spec(0, 20);
  s.active = false;  // it keeps its mail
  REQUIRE(d->launch(s) == errc::ok);
  std::vector<note> const notes(9, note{0, 1});
  message_header const h = note_header();
  for (std::uint32_t n = 0; n < 3; ++n)
    REQUIRE(d->post(s.id, h, reinterpret_cast<std::byte const*>(notes.data()), sizeof(note), sizeof(note), 9,
                    test_device::ack(n), false) == errc::ok);
  CHECK(d.reply(0).reason == errc::ok);
  CHECK(d.reply(1).reason == errc::ok);
  CHECK(d.reply(2).reason == errc::mailbox_full);
  CHECK(d.look(s.id).waiting == 18);
  CHECK(d.tell(s.id, notes[0], test_device::ack(3)) == errc::ok);
  CHECK(d.reply(3).reason == errc::ok);
  CHECK(d.tell({s.id.index, 9}, notes[0], test_device::ack(4)) == errc::ok);
  CHECK(d.reply(4).reason == errc::actor_gone);
  CHECK(d->post(s.id, h, nullptr, sizeof(note), sizeof(note), 0, {}, false) == errc::ok);
  CHECK(d->post(s.id, h, nullptr, 97, 97, 1, {}, false) == errc::payload_too_large);
  CHECK(d->post(s.id, h, nullptr, sizeof(note), sizeof(note), 1025, {}, false) == errc::payload_too_large);
  CHECK(d.count(record_kind::dead_letter) == 0);
  REQUIRE(d->signal(s.id, control_activate) == errc::ok);
  CHECK(eventually([&] { return d.look(s.id).totals.handled == 19; }));
}

TEST_CASE("emulated: a full way down is an answer, and what it took is handled", "[emulated][G5]") {
  setup s;
  s.emulation.submission_slots = 8;
  test_device d{s};
  auto const to = d.launch(0, 64);
  REQUIRE(eventually([&] { return d.look(to).state == lifecycle::active; }));
  d->hold_submissions(true);
  std::uint32_t sent = 0;
  // The I/O team may be in the middle of a look when it is told to hold.
  while (d.tell(to, note{0, sent}) == errc::ok) ++sent;
  CHECK(sent >= 8);
  CHECK(d.tell(to, note{0, sent}) == errc::device_busy);
  CHECK(d->post(to, note_header(), nullptr, sizeof(note), 0, 9, {}, false) == errc::payload_too_large);
  d->hold_submissions(false);
  CHECK(eventually([&] { return d.look(to).totals.handled == sent; }));
}

TEST_CASE("emulated: teams wait for room in the way up and lose no record", "[emulated][G1][G5]") {
  setup s;
  s.emulation.completion_slots = 4;
  test_device d{s};
  auto const to = d.launch(0, 64);
  d->hold_completions(true);
  std::uint32_t const asks = 60;
  for (std::uint32_t n = 0; n < asks; ++n) REQUIRE(d.ask(to, get_report{}, n) == errc::ok);
  for (std::uint32_t n = asks; n < 2 * asks; ++n)
    REQUIRE(d.tell({1, 9}, note{0, n}, test_device::ack(n)) == errc::ok);
  CHECK(d.look(to).index == to.index);  // the I/O thread waits for room, and does errands meanwhile
  d->hold_completions(false);
  for (std::uint32_t n = 0; n < asks; ++n) CHECK(d.reply(n).reason == errc::ok);
  for (std::uint32_t n = asks; n < 2 * asks; ++n) CHECK(d.reply(n).reason == errc::actor_gone);
  CHECK(d.count(record_kind::reply) == 2 * asks);
}

TEST_CASE("emulated: a lost device names what ran and ends what was submitted", "[emulated][G9]") {
  gate_open = false;
  at_gate = 0;
  test_device d{{.teams = 2, .pinned_teams = 0}};
  auto const to = d.launch(3, 8);
  REQUIRE(d.tell(to, wait_for_gate{}) == errc::ok);
  REQUIRE(eventually([] { return at_gate == 1; }));
  d->hold_submissions(true);
  std::uint32_t told = 0, asked = 0;
  for (; told < 5; ++told) REQUIRE(d.tell(to, note{0, told}) == errc::ok);
  for (; asked < 5; ++asked) REQUIRE(d.ask(to, get_report{}, asked) == errc::ok);
  d->lose();
  REQUIRE(eventually([&] { return d.count(record_kind::device_lost) == 2; }));
  std::uint32_t named = 0;
  for (auto const& r : d.all(record_kind::device_lost)) {
    CHECK(r.reason == errc::device_lost);
    if (!r.actor.valid()) continue;
    ++named;
    CHECK(r.actor == to);
    CHECK(r.behaviour == listens);
    CHECK(r.body.header.type == type_id<wait_for_gate>);
  }
  CHECK(named == 1);
  CHECK(d.all(record_kind::device_lost).back().detail == 0);
  CHECK(d.tell(to, note{0, 9}) == errc::device_lost);
  CHECK(d->signal(to, control_drain) == errc::device_lost);
  CHECK(d->launch(d.spec(4, 8)) == errc::device_lost);
  // What the I/O team had taken before it held waits in the arena; all else ended with the device.
  auto const waiting = d.look(to).waiting - 1;
  CHECK(eventually([&] {
    return waiting + d.count_of(record_kind::dead_letter, errc::device_lost) +
               d.count_of(record_kind::reply, errc::device_lost) ==
           told + asked;
  }));
  CHECK_FALSE(d->at_quiet_point(1s, [](arena_ref const&) { FAIL("a lost device has no quiet point"); }));
  gate_open = true;
  CHECK(d->stop(10s).stopped);
}

TEST_CASE("emulated: the device is lost after the planned number of messages", "[emulated][G9]") {
  setup s;
  s.emulation.faults.lose_after_messages = 11;  // the launch is one
  test_device d{s};
  auto const to = d.launch(0, 64);
  std::uint32_t refused = 0, sent = 0;
  REQUIRE(eventually([&] {
    auto const outcome = d.tell(to, note{0, sent});
    sent += outcome == errc::ok;
    refused += outcome == errc::device_lost;
    return refused == 3;
  }));
  CHECK(d->stop(10s).stopped);
  CHECK(d.look(to).totals.accepted == 10);
  CHECK(d.count(record_kind::dead_letter) == sent - 10);
}

TEST_CASE("emulated: stop ends what is in flight, each message once", "[emulated][G1][G10]") {
  for (bool const park : {true, false}) {
    test_device d{{.park = park}};
    auto const to = d.launch(0, 64);
    REQUIRE(eventually([&] { return d.look(to).state == lifecycle::active; }));
    d->hold_submissions(true);
    std::uint32_t const each = 20;
    for (std::uint32_t n = 0; n < each; ++n) {
      REQUIRE(d.tell(to, note{0, n}) == errc::ok);
      REQUIRE(d.ask(to, get_report{}, n) == errc::ok);
      REQUIRE(d.tell(to, note{0, n}, test_device::ack(each + n)) == errc::ok);
    }
    CHECK(d->stop(10s).stopped);
    auto const totals = d.look(to).totals;
    auto const handled_or_waiting = totals.accepted;
    auto const acks_ok = d.count_of(record_kind::reply, errc::ok);
    CHECK(d.count_of(record_kind::dead_letter, errc::stopped) <= each);
    CHECK(d.count(record_kind::dead_letter) + d.count_of(record_kind::reply, errc::stopped) +
              handled_or_waiting ==
          3 * each);
    CHECK(acks_ok <= handled_or_waiting);
    CHECK(d.tell(to, note{0, 0}) == errc::stopped);
    CHECK(d->signal(to, control_drain) == errc::stopped);
    CHECK(d->launch(d.spec(5, 8)) == errc::stopped);
    auto pinned = d.spec(6, 8);
    pinned.pinned = true;
    CHECK(d->launch(pinned) == errc::stopped);
    CHECK(d->stop(10s).stopped);
  }
}

TEST_CASE("emulated: stop with senders that go on loses nothing", "[emulated][G1][stress]") {
  test_device d{with_delays(test_seed(), 5'000)};
  auto const to = d.launch(0, 64);
  std::atomic<std::uint32_t> sent{0}, stopped{0};
  std::vector<std::thread> threads;
  for (std::uint32_t sender = 0; sender < 3; ++sender)
    threads.emplace_back([&, sender] {
      for (std::uint32_t n = 0; stopped < 3; ++n) {
        auto const outcome = d.tell(to, note{sender, n});
        if (outcome == errc::ok) ++sent;
        if (outcome == errc::stopped) return void(++stopped);
      }
    });
  REQUIRE(eventually([&] { return sent > 500; }));
  CHECK(d->stop(10s).stopped);
  for (auto& t : threads) t.join();
  CHECK(d.look(to).totals.accepted + d.count(record_kind::dead_letter) == sent);
}

TEST_CASE("emulated: stop says which actor a team is stuck in", "[emulated][G10]") {
  gate_open = false;
  at_gate = 0;
  auto d = std::make_unique<test_device>();
  auto const to = d->launch(2, 8);
  REQUIRE(d->tell(to, wait_for_gate{}) == errc::ok);
  REQUIRE(eventually([] { return at_gate == 1; }));
  auto const report = (*d)->stop(50ms);
  CHECK_FALSE(report.stopped);
  REQUIRE(report.stuck.size() == 1);
  CHECK(report.stuck[0].find("actor 2") != std::string::npos);
  CHECK_FALSE((*d)->stop(50ms).stopped);
  gate_open = true;
  test_device::keep_for_ever(std::move(d));
}

TEST_CASE("emulated: at a quiet point no handler runs, and all that was sent before is there",
          "[emulated][G1]") {
  for (auto const& s : {setup{}, setup{.lanes = 2}, with_delays(test_seed(), 10'000)}) {
    test_device d{s};
    auto const busy = d.launch(0, 64);
    auto kept = d.spec(1, 64);
    kept.active = false;
    REQUIRE(d->launch(kept) == errc::ok);
    std::atomic<bool> done{false};
    std::atomic<std::uint32_t> sent{0};
    std::thread sender([&] {
      while (!done)
        if (d.tell(busy, note{0, sent}) == errc::ok) ++sent;
    });
    for (std::uint32_t round = 1; round <= 5; ++round) {
      for (int i = 0; i < 3; ++i) REQUIRE(d.tell_patiently(kept.id, note{1, round}));
      std::uint64_t before = 0, after = 1;
      std::uint32_t waiting = 0;
      REQUIRE(d->at_quiet_point(10s, [&](arena_ref const& arena) {
        before = read_actor(arena, busy.index).totals.handled;
        waiting = read_actor(arena, kept.id.index).waiting;
        auto const seen = sent.load();
        // The sender goes on until its messages wait in the ring.
        for (int i = 0; i < 1000 && sent < seen + 4; ++i) std::this_thread::yield();
        after = read_actor(arena, busy.index).totals.handled;
      }));
      CHECK(before == after);
      CHECK(waiting == 3 * round);
    }
    CHECK_THROWS_AS(
        d->at_quiet_point(10s, [](arena_ref const&) { throw std::runtime_error("no space left"); }),
        std::runtime_error);
    done = true;
    sender.join();
    CHECK(
        eventually([&] { return d.look(busy).totals.handled + d.count(record_kind::dead_letter) == sent; }));
  }
}

TEST_CASE("emulated: the counters can be read while a quiet point waits for teams that wait for the poller",
          "[emulated][G10]") {
  // A sink may need a lock that the reader of the counters holds; this once was a circle.
  setup s;
  s.emulation.completion_slots = 4;
  test_device d{s};
  auto const to = d.launch(0, 64);
  d->hold_completions(true);
  for (std::uint32_t n = 0; n < 30; ++n) REQUIRE(d.ask(to, get_report{}, n) == errc::ok);
  REQUIRE(eventually([&] { return d.look(to).totals.accepted == 30; }));
  std::atomic<bool> quiet{false};
  std::thread pauser([&] { quiet = d->at_quiet_point(60s, [](arena_ref const&) {}); });
  for (int i = 0; i < 20; ++i) CHECK(d.look(to).totals.accepted == 30);
  d->hold_completions(false);
  pauser.join();
  CHECK(quiet);
  for (std::uint32_t n = 0; n < 30; ++n) CHECK(d.reply(n).reason == errc::ok);
}

TEST_CASE("emulated: pinned actors get teams of their own while there are some", "[emulated][G8]") {
  test_device d{{.pinned_teams = 2}};
  auto const pinned = [&](std::uint32_t index, std::uint32_t generation = 1) {
    auto s = d.spec(index, 16, listens, generation);
    s.pinned = true;
    return s;
  };
  REQUIRE(d->launch(pinned(0)) == errc::ok);
  REQUIRE(d->launch(pinned(1)) == errc::ok);
  CHECK(d->launch(pinned(2)) == errc::actor_limit);
  REQUIRE(d.tell({0, 1}, note{0, 0}) == errc::ok);
  REQUIRE(d.ask({0, 1}, get_report{}, 1) == errc::ok);
  CHECK(report_of(d.reply(1)).taken == 1);
  REQUIRE(d->signal({0, 1}, control_drain) == errc::ok);
  REQUIRE(eventually([&] { return d.count(record_kind::terminated) == 1; }));
  REQUIRE(eventually([&] { return d->launch(pinned(0, 2)) == errc::ok; }));
  REQUIRE(d.ask({0, 2}, get_report{}, 2) == errc::ok);
  CHECK(report_of(d.reply(2)).taken == 0);
  CHECK(d->at_quiet_point(10s, [](arena_ref const&) {}));
  REQUIRE(d.ask({0, 2}, get_report{}, 3) == errc::ok);
  CHECK(report_of(d.reply(3)).taken == 0);
}

TEST_CASE("emulated: the planned handler calls stall and fail, and the actor restarts", "[emulated][G9]") {
  setup s;
  s.lanes = 2;
  s.emulation.faults.stall_handler = 2;
  s.emulation.faults.stall_us = 1000;
  s.emulation.faults.fail_handler = 3;
  test_device d{s};
  auto const to = d.launch(0, 8, adds);
  for (std::uint32_t n = 0; n < 5; ++n) REQUIRE(d.ask(to, note{0, 10}, n) == errc::ok);
  for (std::uint32_t n = 0; n < 5; ++n) CHECK(report_of(d.reply(n)).taken == 45);  // tried again
  auto const failures = d.all(record_kind::actor_failed);
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].actor == to);
  CHECK(failures[0].reason == errc::handler_failed);
  CHECK(failures[0].detail == static_cast<std::uint64_t>(failure_action::restarted));
}

TEST_CASE("emulated: a device that was stopped starts again with its actors", "[emulated][G8]") {
  test_device d;
  auto const to = d.launch(0, 8);
  REQUIRE(d.tell_patiently(to, note{0, 0}));
  REQUIRE(eventually([&] { return d.look(to).totals.handled == 1; }));
  CHECK(d->stop(10s).stopped);
  std::atomic<std::uint32_t> replies{0};
  d->start(
      [&](host_record const& r) {
        replies +=
            r.kind == record_kind::reply && reinterpret_cast<report const*>(r.body.payload)->taken == 1;
      },
      {});
  REQUIRE(d.ask(to, get_report{}, 1) == errc::ok);
  CHECK(eventually([&] { return replies == 1; }));
  CHECK(d->stop(10s).stopped);
}
