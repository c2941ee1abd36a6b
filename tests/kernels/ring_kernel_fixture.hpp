// A machine for the tests of the ring kernel: threads that run the ring kernel over an arena, without a runtime, and a
// host that only stores its events.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include "kernels/actor/ring_kernel.hpp"
#include "tests/kernels/arena_fixture.hpp"

namespace rondo_test {
namespace by_hand {

inline std::atomic<std::uint32_t> wrong_self{0};
inline std::atomic<bool> hold{false}, holding{false};

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

/// Counts messages, checks the order of each sender, answers.
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

/// The same as counter, in batches.
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

/// Forwards each message; retries later if its target is full.
struct relay {
  using messages = rondo::messages<add, address<counter>>;
  address<counter> to{};
  void on(context&, address<counter> const& m) { to = m; }
  void on(context& ctx, add const& m) {
    if (ctx.tell(to, m) != errc::ok) ctx.fail();
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

/// Keeps its team busy until the test releases it.
struct blocker {
  using messages = rondo::messages<block>;
  void on(context&, block const&) {
    holding = true;
    while (hold) std::this_thread::yield();
    holding = false;
  }
};

/// Fails as often as the message requests.
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

/// Answers with the combined result of its lanes.
struct crowd {
  using messages = rondo::messages<ask<get, sums>>;
  static constexpr auto width = rondo::width::whole_team;
  void on(context& ctx, get const&) {
    std::uint64_t mine = 0;
    for (auto const i : ctx.lanes(100)) mine += i;
    auto const total = ctx.team().sum(mine);
    ctx.reply(sums{total, 0});
  }
};

using behaviours = module_of<counter, batcher, relay, worker, blocker, fragile, crowd>;

/// An arena, the threads of its teams, and a host that stores the events.
class machine {
 public:
  explicit machine(std::uint32_t teams, std::uint32_t actors = 8, std::uint32_t rings = 8)
      : arena({.actors = actors, .rings = rings, .ring_slots = 16, .teams = teams, .heap_bytes = 1 << 16}),
        teams_(teams) {}
  ~machine() { stop(); }

  host_port host() {
    return {this, [](void* self, device_event const& r) { static_cast<machine*>(self)->note_event(r); }, {}};
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
  /// Sends a request whose answer is an event with this number as reply_to.generation.
  template <class M>
  errc ask_for(actor_id to, M const& m, std::uint32_t number, message_header h = {}) {
    h.flags |= flag_wants_reply;
    h.reply_to = {host_ask_bit, number};
    return tell_until_taken(to, m, h);
  }

  std::vector<device_event> events(event_kind kind) {
    std::lock_guard const lock{mutex_};
    std::vector<device_event> found;
    for (auto const& r : records_)
      if (r.kind == kind) found.push_back(r);
    return found;
  }
  std::size_t count(event_kind kind) { return events(kind).size(); }
  bool wait_for(event_kind kind, std::size_t n) {
    return eventually([&] { return count(kind) >= n; });
  }
  template <class T>
  T answer(std::uint32_t number) {
    T result{};
    eventually([&] {
      for (auto const& r : events(event_kind::reply))
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
    eventually([&] { return arena.ref().owner_of(id.index).totals.try_read(t); });
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
  std::function<void(device_event const&)> on_event;  // runs on the team's thread

 private:
  void note_event(device_event const& r) {
    {
      std::lock_guard const lock{mutex_};
      records_.push_back(r);
    }
    if (on_event) on_event(r);
  }
  std::uint32_t teams_;
  std::mutex mutex_;
  std::vector<device_event> records_;
  std::vector<std::thread> threads_;
};

/// Several host threads send to one actor; it must count all messages, in each sender's order.
template <class B>
inline void many_senders(bool pinned) {
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

}  // namespace by_hand
}  // namespace rondo_test
