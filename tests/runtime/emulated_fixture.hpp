// A device `emulated` with actors that report what they received, for the tests of the device.
#pragma once

#include "runtime/device/emulated/emulated_device.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "tests/kernels/arena_fixture.hpp"

namespace rondo_test {

using namespace rondo;
using namespace std::chrono_literals;

struct report {
  std::uint32_t taken, disorder;
};
struct get_report {};
struct wait_for_gate {};

/// A gate, for tests that hold a handler.
inline std::atomic<bool> gate_open{false};
inline std::atomic<std::uint32_t> at_gate{0};

/// Counts notes of a sender that arrive out of order.
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
  static constexpr auto width = rondo::width::whole_team;
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
  std::uint32_t submission_slots = 1024, completion_slots = 1024;
  emulation_options emulation{};
};

class test_device {
 public:
  explicit test_device(setup const& s = {})
      : shape_({.actors = 8, .rings = 8, .ring_slots = 64, .teams = s.teams + s.pinned_teams}),
        heap_(rondo::detail::plan_arena(shape_).heap_at),
        dev_(new emulated_device(emulated_program_of<test_module>(), shape_,
                                 {.teams = s.teams,
                                  .pinned_teams = s.pinned_teams,
                                  .idle = {.spin_ns = 20'000, .park = s.park},
                                  .round = s.round,
                                  .submission_slots = s.submission_slots,
                                  .completion_slots = s.completion_slots},
                                 s.lanes, s.emulation)) {
    dev_->start([this](device_event const& r) { keep(r); }, {});
  }

  emulated_device& operator*() { return *dev_; }
  emulated_device* operator->() { return dev_.get(); }
  /// Keeps a device with a hanging thread alive.
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
    s.heap_end = heap_;
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
    return dev_->mail().post({.to = to, .header = h, .payloads = &m, .bytes = sizeof m}, {ack});
  }
  /// Waits for room in the submission ring; true if the ring took the message.
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
    return dev_->mail().post({.to = to, .header = h, .payloads = &m, .bytes = sizeof m});
  }
  static actor_id ack(std::uint32_t number) { return {host_ask_bit | number, 1}; }

  std::uint32_t count(event_kind kind, errc reason = errc::ok, bool any_reason = true) {
    std::lock_guard lock(mutex_);
    std::uint32_t n = 0;
    for (auto const& r : records_) n += r.kind == kind && (any_reason || r.reason == reason);
    return n;
  }
  std::uint32_t count_of(event_kind kind, errc reason) { return count(kind, reason, false); }
  /// The only reply to ask or ack `number`.
  device_event reply(std::uint32_t number) {
    device_event found;
    std::uint32_t replies = 0;
    REQUIRE(eventually([&] {
      std::lock_guard lock(mutex_);
      replies = 0;
      for (auto const& r : records_)
        if (r.kind == event_kind::reply && r.body.header.reply_to == ack(number)) {
          found = r;
          ++replies;
        }
      return replies != 0;
    }));
    CHECK(replies == 1);
    return found;
  }
  std::vector<device_event> all(event_kind kind) {
    std::lock_guard lock(mutex_);
    std::vector<device_event> some;
    for (auto const& r : records_)
      if (r.kind == kind) some.push_back(r);
    return some;
  }
  actor_snapshot look(actor_id id) {
    std::vector<actor_snapshot> actors;
    dev_->read_actors(0, shape_.actors, actors);
    for (auto const& a : actors)
      if (a.index == id.index) return a;
    return {};
  }
  /// The same from the memory of a lost device, which only a test can access.
  actor_snapshot look_into(actor_id id) { return read_actor(dev_->arena(), id.index); }

 private:
  void keep(device_event const& r) {
    std::lock_guard lock(mutex_);
    records_.push_back(r);
  }

  arena_shape shape_;
  std::uint64_t heap_;
  std::mutex mutex_;
  std::vector<device_event> records_;
  std::unique_ptr<emulated_device> dev_;
};

inline report report_of(device_event const& r) {
  REQUIRE(r.reason == errc::ok);
  REQUIRE(r.body.header.type == type_id<report>);
  report found{};
  std::memcpy(&found, r.body.payload, sizeof found);
  return found;
}

inline setup with_delays(std::uint64_t seed, std::uint64_t delay_ns) {
  setup s;
  s.emulation.seed = seed;
  s.emulation.visibility_delay_ns = delay_ns;
  s.submission_slots = 32;
  s.completion_slots = 8;
  return s;
}

/// Three senders send more to a small actor than it can hold; each message is handled in order, or is a dead letter.
inline void flood(setup const& s) {
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
      [&] { return d.look(to).totals.handled + d.count(event_kind::dead_letter) == senders * each; }));
  auto const totals = d.look(to).totals;
  CHECK(totals.accepted == totals.handled);
  CHECK(d.count_of(event_kind::dead_letter, errc::mailbox_full) == senders * each - totals.handled);
  REQUIRE(d.ask(to, get_report{}, 1) == errc::ok);
  auto const r = report_of(d.reply(1));
  CHECK(r.taken == totals.handled);
  CHECK(r.disorder == 0);
  CHECK(d->stop(10s).stopped);
}

}  // namespace rondo_test
