// The queue pair's ring compared with a std::deque, under many threads and across the overflow of its sequences; and how the
// I/O team processes submissions.
#include "kernels/link/queue_pair.hpp"

#include <deque>

#include "kernels/grid/io_team.hpp"
#include "tests/kernels/arena_fixture.hpp"

using namespace rondo_test;

namespace {

/// A ring in the state after `start` items have gone through it.
template <class Item>
struct test_ring {
  explicit test_ring(std::uint32_t size, std::uint64_t start = 0) : slots(size) {
    progress.consumed.store(start, memory_order::relaxed);
    writers.tail.store(start, memory_order::relaxed);
    writers.seen.store(start, memory_order::relaxed);
    for (std::uint64_t t = start; t < start + size; ++t)
      slots[t & (size - 1)].sequence.store(static_cast<std::uint32_t>(t + 1 - size), memory_order::relaxed);
  }
  bus_ring_ref<Item> ref() {
    return {slots.data(), &progress, &writers, static_cast<std::uint32_t>(slots.size()), {}};
  }

  std::vector<bus_slot<Item>> slots;
  bus_progress progress{};
  bus_writers writers{};
};

/// Item i of a group holds its index and the size of the group.
struct part {
  std::uint32_t sender, number, index, count;
};

push_outcome push(bus_ring_ref<part> const& ring, std::uint32_t sender, std::uint32_t number,
                  std::uint32_t count) {
  std::uint64_t ticket = 0;
  return ring.try_push(
      count,
      [=](std::uint32_t i, part& p) {
        p = {sender, number, i, count};
      },
      ticket);
}

constexpr std::uint64_t near_overflow = (std::uint64_t{1} << 32) - 3'000;

void stress_ring(std::uint32_t size, std::uint64_t start) {
  test_ring<part> r{size, start};
  std::uint32_t const senders = 3, each = 3'000;
  std::vector<std::thread> threads;
  for (std::uint32_t s = 0; s < senders; ++s)
    threads.emplace_back([&, s] {
      random_source random{s};
      for (std::uint32_t n = 0; n < each; ++n) {
        auto const count = 1 + random.below(size < 4 ? size : 4);
        while (push(r.ref(), s, n, count) != push_outcome::pushed) std::this_thread::yield();
      }
    });
  bus_reader<part> in{r.ref()};
  std::vector<std::uint32_t> next(senders);
  std::uint32_t groups = 0, wrong = 0;
  while (groups < senders * each) {
    part const* const first = in.peek();
    if (first == nullptr) {
      std::this_thread::yield();
      continue;
    }
    auto const head = *first;
    wrong += head.number != next.at(head.sender)++ || head.index != 0;
    for (std::uint32_t i = 0; i < head.count; ++i) {
      part const& p = in.at(i);
      wrong += p.sender != head.sender || p.number != head.number || p.index != i || p.count != head.count;
    }
    in.advance(head.count);
    if (groups % 3 == 0 || in.peek() == nullptr) in.publish();
    ++groups;
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(in.head() == r.ref().tail());
  CHECK_FALSE(in.was_published());
}

}  // namespace

TEST_CASE("a zeroed bus ring is empty, takes as many items as it has slots, and no more", "[queue_pair]") {
  test_ring<part> r{4};
  r.slots = std::vector<bus_slot<part>>(4);  // zeroed
  bus_reader<part> in{r.ref()};
  CHECK(in.peek() == nullptr);
  for (std::uint32_t n = 0; n < 4; ++n) CHECK(push(r.ref(), 0, n, 1) == push_outcome::pushed);
  CHECK(push(r.ref(), 0, 4, 1) == push_outcome::full);
  REQUIRE(in.peek() != nullptr);
  in.advance(1);
  CHECK(push(r.ref(), 0, 4, 1) == push_outcome::full);  // read, but not yet released
  in.publish();
  CHECK(push(r.ref(), 0, 4, 2) == push_outcome::full);
  CHECK(push(r.ref(), 0, 4, 1) == push_outcome::pushed);
  CHECK(r.ref().consumed(0));
  CHECK_FALSE(r.ref().consumed(1));
}

TEST_CASE("a push into a full bus ring is refused for good once its reader has abandoned it",
          "[queue_pair]") {
  test_ring<part> r{2};
  r.ref().abandon(true);
  for (std::uint32_t n = 0; n < 2; ++n) CHECK(push(r.ref(), 0, n, 1) == push_outcome::pushed);
  CHECK(push(r.ref(), 0, 2, 1) == push_outcome::closed);
  r.ref().abandon(false);
  CHECK(push(r.ref(), 0, 2, 1) == push_outcome::full);
}

TEST_CASE("the bus ring behaves like a bounded std::deque of groups, also across the overflow",
          "[queue_pair]") {
  CAPTURE(test_seed());
  random_source random;
  for (std::uint32_t const size : {1u, 2u, 8u, 64u})
    for (std::uint64_t const start : {std::uint64_t{0}, near_overflow + 2'900, std::uint64_t{0x7fff'fff0}}) {
      CAPTURE(size, start);
      test_ring<part> r{size, start};
      bus_reader<part> in{r.ref()};
      std::deque<part> reference;
      std::uint32_t used = 0, read = 0;
      for (std::uint32_t n = 0; n < 2'000; ++n) {
        if (random.below(100) < (n % 400 < 200 ? 60u : 40u)) {
          auto const count = 1 + random.below(std::min(size, 5u));
          bool const pushed = push(r.ref(), 1, n, count) == push_outcome::pushed;
          REQUIRE(pushed == (used + count <= size));
          if (pushed) {
            reference.push_back({1, n, 0, count});
            used += count;
          }
        } else if (part const* const p = in.peek()) {
          REQUIRE(!reference.empty());
          REQUIRE(p->number == reference.front().number);
          REQUIRE(in.at(p->count - 1).index == p->count - 1);
          read += p->count;
          in.advance(p->count);
          reference.pop_front();
          if (random.one_in(2)) {
            in.publish();
            used -= read;
            read = 0;
          }
          if (random.one_in(8)) {  // a new reader continues
            in.publish();
            used -= read;
            read = 0;
            in = bus_reader<part>{r.ref()};
          }
        } else {
          REQUIRE(reference.empty());
          in.publish();
          used -= read;
          read = 0;
        }
      }
    }
}

TEST_CASE("many threads push groups that arrive whole, once and in each thread's order",
          "[queue_pair][stress]") {
  stress_ring(2, 0);
  stress_ring(64, 0);
}

TEST_CASE("many threads push across the overflow of the sequences", "[queue_pair][stress]") {
  stress_ring(4, near_overflow);
  stress_ring(64, near_overflow);
}

TEST_CASE("a closed bus ring refuses new items, and items accepted before arrive", "[queue_pair][stress]") {
  test_ring<part> r{64};
  std::atomic<std::uint32_t> pushed{0}, refused{0};
  std::vector<std::thread> threads;
  for (std::uint32_t s = 0; s < 3; ++s)
    threads.emplace_back([&, s] {
      for (std::uint32_t n = 0;; ++n) {
        auto const outcome = push(r.ref(), s, n, 1);
        if (outcome == push_outcome::pushed) ++pushed;
        if (outcome == push_outcome::closed) return void(++refused);
        if (outcome == push_outcome::full) std::this_thread::yield();
      }
    });
  bus_reader<part> in{r.ref()};
  std::uint64_t last = ~0ull;
  while (in.head() < last) {
    if (in.head() > 500 && last == ~0ull) last = r.ref().close();
    if (in.peek() == nullptr) continue;
    in.advance(1);
    in.publish();
  }
  for (auto& t : threads) t.join();
  CHECK(refused == 3);
  CHECK(pushed == last);
  CHECK_FALSE(in.was_published());
  CHECK(push(r.ref(), 0, 0, 1) == push_outcome::closed);
  r.ref().reopen();
  CHECK(push(r.ref(), 0, 0, 1) == push_outcome::pushed);
}

namespace {

/// An arena, a submission ring and an I/O team whose completions are kept in a vector.
struct io_fixture {
  explicit io_fixture(std::uint32_t slots = 16, std::uint64_t start = 0)
      : arena({.actors = 4, .rings = 4, .ring_slots = 8, .teams = 1}), down(slots, start) {}

  io_team<taker_module> team() {
    return {arena.ref(),
            down.ref(),
            {this,
             [](void* self, device_event const& r) { static_cast<io_fixture*>(self)->events.push_back(r); },
             {}}};
  }
  bool submit(submission_kind kind, actor_id to, void const* payload, std::uint32_t bytes,
              std::uint32_t stride, std::uint32_t count, actor_id ack, message_header header) {
    std::uint64_t ticket = 0;
    auto const fill = [&](std::uint32_t i, submission& s) {
      s = {};
      if (i == 0) {
        s.kind = kind;
        s.count = count;
        s.to = to;
        s.ack = ack;
        s.body.header = header;
        s.body.bytes = bytes;
      }
      std::memcpy(s.body.payload, static_cast<std::byte const*>(payload) + i * stride, bytes);
    };
    return down.ref().try_push(kind == submission_kind::post ? count : 1, fill, ticket) ==
           push_outcome::pushed;
  }
  bool post(actor_id to, std::vector<note> const& notes, actor_id ack = {},
            message_header header = note_header()) {
    return submit(submission_kind::post, to, notes.data(), sizeof(note), sizeof(note),
                  static_cast<std::uint32_t>(notes.size()), ack, header);
  }
  bool launch(launch_spec const& spec, actor_id ack = {}) {
    return submit(submission_kind::launch, spec.id, &spec, sizeof spec, 0, 1, ack, {});
  }
  bool signal(actor_id to, std::uint32_t control_bits, actor_id ack = {}) {
    return submit(submission_kind::signal, to, "", 0, 0, control_bits, ack, {});
  }
  bool order(submission_kind kind, actor_id ack = {}) {
    buffer_order const o{};
    return submit(kind, {}, &o, sizeof o, 0, 1, ack, {});
  }
  std::vector<std::uint32_t> take_all(actor_id id) {
    scheduler owner{arena.ref()};
    std::uint32_t index = 0;
    std::vector<std::uint32_t> numbers;
    while (owner.next(index)) {
      REQUIRE(index == id.index);
      owned_mail mail{owner, id};
      note n{};
      while (mail.try_take(n)) numbers.push_back(n.number);
      actor_totals totals = arena.ref().cell(index).totals.own();
      owner.release(index, totals);
    }
    return numbers;
  }

  test_arena arena;
  test_ring<submission> down;
  std::vector<device_event> events;
};

constexpr actor_id some_ack{host_ask_bit | 7, 3};

}  // namespace

TEST_CASE("the I/O team launches, then posts, in the order submitted", "[io_team][G2]") {
  for (auto const start : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 3}) {
    io_fixture f{16, start};
    auto const spec = f.arena.spec(2, 8);
    REQUIRE(f.launch(spec));
    for (std::uint32_t n = 0; n < 5; ++n) REQUIRE(f.post(spec.id, {{0, n}}));
    auto io = f.team();
    CHECK(io.has_work());
    CHECK(io.step(64) == 6);
    CHECK(io.step(64) == 0);
    CHECK(f.events.empty());
    CHECK(f.take_all(spec.id) == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  }
}

TEST_CASE("the I/O team's step is bounded, and a new team continues where the last one stopped",
          "[io_team][G10]") {
  io_fixture f;
  auto const id = f.arena.launch_taker(0, 8);
  for (std::uint32_t n = 0; n < 6; ++n) REQUIRE(f.post(id, {{0, n}}));
  CHECK(f.team().step(2) == 2);
  CHECK(f.team().step(3) == 3);
  // The arena's stop word is for the worker teams; its caller decides whether the I/O team steps (grid.hpp).
  f.arena.ref().header().stop.store(1, memory_order::relaxed);
  CHECK(f.team().step(64) == 1);
  CHECK(f.team().step(64) == 0);
  f.arena.ref().header().stop.store(0, memory_order::relaxed);
  CHECK(f.take_all(id) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("a submission that is refused ends at its ack, at its ask, or as a dead letter",
          "[io_team][G1][G5]") {
  io_fixture f;
  auto const id = f.arena.launch_taker(0, 1);
  auto ask = note_header();
  ask.flags = flag_wants_reply;
  ask.reply_to = {host_ask_bit | 9, 1};
  REQUIRE(f.post(id, {{0, 1}}, some_ack));
  REQUIRE(f.post(id, {{0, 2}}, some_ack));
  REQUIRE(f.post(id, {{0, 3}}, {}, ask));
  REQUIRE(f.post(id, {{0, 4}}));
  REQUIRE(f.post({3, 1}, {{0, 5}}));
  CHECK(f.team().step(64) == 5);
  REQUIRE(f.events.size() == 5);
  CHECK(f.events[0].kind == event_kind::reply);
  CHECK(f.events[0].reason == errc::ok);
  CHECK(f.events[0].body.header.reply_to == some_ack);
  CHECK(f.events[1].reason == errc::mailbox_full);
  CHECK(f.events[1].body.header.reply_to == some_ack);
  CHECK(f.events[2].kind == event_kind::reply);
  CHECK(f.events[2].reason == errc::mailbox_full);
  CHECK(f.events[2].body.header.reply_to == ask.reply_to);
  CHECK(f.events[3].kind == event_kind::dead_letter);
  CHECK(f.events[3].reason == errc::mailbox_full);
  CHECK(f.events[3].body.header.type == type_id<note>);
  CHECK(f.events[3].body.bytes == sizeof(note));
  CHECK(reinterpret_cast<note const*>(f.events[3].body.payload)->number == 4);
  CHECK(f.events[4].kind == event_kind::dead_letter);
  CHECK(f.events[4].reason == errc::actor_gone);
  CHECK(f.take_all(id) == std::vector<std::uint32_t>{1});
}

TEST_CASE("a batch is posted as a whole or not at all, also across the ring's end", "[io_team][G5]") {
  io_fixture f{8};
  auto const id = f.arena.launch_taker(0, 8);
  REQUIRE(f.post(id, {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}}, some_ack));
  CHECK(f.team().step(1) == 5);  // a batch is accepted as a whole
  REQUIRE(
      f.post(id, {{0, 5}, {0, 6}, {0, 7}, {0, 8}}));  // slots 5 6 7 0; there is room for only three messages
  CHECK(f.team().step(64) == 4);
  REQUIRE(f.events.size() == 5);
  CHECK(f.events[0].reason == errc::ok);
  for (std::uint32_t i = 1; i < 5; ++i) {
    CHECK(f.events[i].kind == event_kind::dead_letter);
    CHECK(f.events[i].reason == errc::mailbox_full);
    CHECK(reinterpret_cast<note const*>(f.events[i].body.payload)->number == 4 + i);
  }
  CHECK(f.take_all(id) == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  REQUIRE(f.post(id, {{0, 9}, {0, 10}, {0, 11}, {0, 12}, {0, 13}, {0, 14}, {0, 15}, {0, 16}}, some_ack));
  CHECK(f.team().step(64) == 8);
  CHECK(f.take_all(id) == std::vector<std::uint32_t>{9, 10, 11, 12, 13, 14, 15, 16});
}

TEST_CASE("a signal reaches its actor, and the ack reports an actor that is gone", "[io_team][G7]") {
  io_fixture f;
  auto const id = f.arena.launch_taker(0, 8);
  REQUIRE(f.signal(id, control_drain));
  REQUIRE(f.signal({id.index, 2}, control_drain, some_ack));
  CHECK(f.team().step(64) == 2);
  CHECK(f.arena.ref().cell(id.index).control.load(memory_order::relaxed) ==
        control_for(id.generation, control_drain));
  REQUIRE(f.events.size() == 1);
  CHECK(f.events[0].reason == errc::actor_gone);
}

TEST_CASE("every kind of submission that is refused ends exactly once", "[io_team][G1]") {
  io_fixture f;
  auto const spec = f.arena.spec(0, 8);
  auto const ask = [](std::uint32_t number) { return actor_id{host_ask_bit | number, 1}; };
  auto asking = note_header();
  asking.flags = flag_wants_reply;
  asking.reply_to = ask(7);
  // Without an ack, only a post has somebody to tell.
  REQUIRE((f.launch(spec) && f.launch(spec, ask(1))));
  REQUIRE((f.signal(spec.id, control_drain) && f.signal(spec.id, control_drain, ask(2))));
  REQUIRE((f.order(submission_kind::open_buffer) && f.order(submission_kind::open_buffer, ask(3))));
  REQUIRE((f.order(submission_kind::close_buffer) && f.order(submission_kind::close_buffer, ask(4))));
  REQUIRE(f.post(spec.id, {{0, 0}, {0, 1}}));
  REQUIRE(f.post(spec.id, {{0, 2}, {0, 3}}, ask(5)));
  REQUIRE(f.post(spec.id, {{0, 4}}, ask(6), asking));
  REQUIRE(f.post(spec.id, {{0, 5}}, {}, asking));
  auto io = f.team();
  std::uint32_t submissions = 0;
  while (io.refuse_next(errc::stopped)) ++submissions;
  CHECK(submissions == 12);
  std::vector<actor_id> ends;  // the ask that each event completes; a dead letter completes none
  for (auto const& e : f.events) {
    CHECK(e.reason == errc::stopped);
    CHECK(e.kind == (ends.size() == 4 || ends.size() == 5 ? event_kind::dead_letter : event_kind::reply));
    ends.push_back(e.body.header.reply_to);
  }
  CHECK(ends == std::vector{ask(1), ask(2), ask(3), ask(4), actor_id{}, actor_id{}, ask(5), ask(6), ask(7)});
  CHECK(f.down.ref().consumed(13));
}
