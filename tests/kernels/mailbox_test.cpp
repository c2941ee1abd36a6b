// A mailbox compared with a std::deque: exact capacity, order, which message queues the actor, tickets close to
// overflow.
#include "kernels/mail/mailbox.hpp"

#include <deque>

#include "kernels/mail/scheduler.hpp"
#include "tests/kernels/arena_fixture.hpp"

using namespace rondo_test;

static_assert(sizeof(message_slot) == 128 && alignof(message_slot) == 128);
static_assert(sizeof(actor_cell) % 64 == 0 && std::is_trivially_destructible_v<actor_cell>);
static_assert(mail_ring_ref::bytes_for(2) % 128 == 0);

namespace {

/// Reserves, writes and commits `count` notes numbered from `number`; the status.
errc put(arena_ref const& arena, actor_id to, std::uint32_t sender, std::uint32_t number,
         std::uint32_t count = 1, bool want_room = false, std::uint8_t priority = default_priority) {
  auto const r = rondo_test::reserve(arena, to, priority, count, want_room);
  if (r.status != errc::ok) return r.status;
  if (priority != default_priority) announce_priority(arena.owner_of(to.index), r.ring, r.ticket, count);
  for (std::uint32_t i = 0; i < count; ++i) {
    note const n{sender, number + i};
    fill(r.ring, r.ticket + i, note_header(priority), &n, sizeof n);
  }
  return errc::ok;
}

/// Empties the ready queues: the test claims its only actor directly.
void forget_ready(arena_ref const& arena) {
  std::uint32_t index = 0;
  for (int band = 0; band < ready_bands; ++band)
    while (arena.ready(band).try_pop(index)) {
    }
}

/// Random reservations of one or several messages, and an owner that takes some of them.
void against_deque(std::uint32_t slots, std::uint32_t capacity, std::uint32_t start) {
  CAPTURE(slots, capacity, start, test_seed());
  random_source random{slots * 100 + capacity};
  test_arena a{{.actors = 1, .rings = 1, .ring_slots = slots, .heap_bytes = 4096}};
  a.start_rings_at(start);
  auto const id = a.launch_taker(0, capacity);
  scheduler sched{a.ref()};
  std::deque<std::uint32_t> reference;
  actor_totals totals{};
  std::uint32_t number = 0, accepted = 0;
  for (int step = 0; step < 300; ++step) {
    if (random.one_in(2)) {
      auto const count = random.one_in(3) ? 1 + random.below(capacity + 1) : 1;
      auto const expected = count > capacity                       ? errc::batch_too_large
                            : reference.size() + count <= capacity ? errc::ok
                                                                   : errc::mailbox_full;
      REQUIRE(put(a.ref(), id, 0, number, count) == expected);
      if (expected != errc::ok) continue;
      accepted += count;
      while (reference.size() < capacity && count != 0 && number < accepted) reference.push_back(number++);
    } else {
      REQUIRE(sched.claim(0, actor_word::queued_mask));
      owned_mail mail{sched, id};
      for (auto n = random.below(capacity + 2); n != 0; --n) {
        note got{};
        REQUIRE(mail.try_take(got) == !reference.empty());
        if (reference.empty()) break;
        REQUIRE(got.number == reference.front());
        reference.pop_front();
      }
      REQUIRE_FALSE(sched.release(0, totals).still_owned);
      forget_ready(a.ref());
      REQUIRE(totals.accepted == accepted);
      REQUIRE(a.word(id).queued() == !reference.empty());
      REQUIRE_FALSE(a.word(id).has(actor_word::running));
    }
  }
  CHECK(accepted > capacity);
}

/// Several senders, and two owners that race for the actor.
void stress_mailbox(std::uint32_t slots, std::uint32_t capacity, std::uint32_t start) {
  CAPTURE(slots, capacity, test_seed());
  std::uint32_t const senders = 3, each = 3'000;
  // Each sender may briefly hold a ring when it loses the race to attach its own.
  test_arena a{{.actors = 1, .rings = senders, .ring_slots = slots, .heap_bytes = 4096}};
  a.start_rings_at(start);
  auto const id = a.launch_taker(0, capacity);
  std::atomic<std::uint32_t> taken{0}, wrong{0}, owners{0}, refused{0};
  std::vector<std::uint32_t> next(senders, 0);  // not atomic: ordered by the ownership alone (W2)
  actor_totals totals{};                        // likewise
  std::vector<std::thread> threads;
  for (std::uint32_t s = 0; s < senders; ++s)
    threads.emplace_back([&, s] {
      random_source random{s + 1};
      scheduler sched{a.ref()};
      note notes[16];
      for (std::uint32_t n = 0; n < each;) {
        auto const count = std::min(each - n, 1 + random.below(capacity));
        for (std::uint32_t i = 0; i < count; ++i) notes[i] = {s, n + i};
        auto const status = sched.post_batch(id, note_header(), reinterpret_cast<std::byte*>(notes),
                                             sizeof(note), sizeof(note), count);
        if (status == errc::ok) {
          n += count;
        } else {
          wrong += status != errc::mailbox_full;
          ++refused;
          std::this_thread::yield();
        }
      }
    });
  for (std::uint32_t o = 0; o < 2; ++o)
    threads.emplace_back([&, o] {
      scheduler sched{a.ref()};
      random_source random{100 + o};
      while (taken < senders * each) {
        if (std::uint32_t index = 0; !sched.next(index)) {
          std::this_thread::yield();
          continue;
        }
        wrong += owners.fetch_add(1) != 0;
        owned_mail mail{sched, id};
        note got{};
        for (auto quota = random.below(8); quota != 0 && mail.try_take(got); --quota) {
          wrong += got.sender >= senders || got.number != next[got.sender]++;
          ++taken;
        }
        owners.fetch_sub(1);
        sched.release(
            0,
            totals);  // there are no signals, so the actor is always released; it is queued again if mail is left
      }
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(taken == senders * each);
  actor_totals last{};
  REQUIRE(a.ref().owner_of(0).totals.try_read(last));
}

}  // namespace

TEST_CASE("the word's fields do not overlap", "[mailbox]") {
  actor_word const all{~0ull}, none{0};
  auto const tail_mask = std::uint64_t{ticket_mask} << 36;
  CHECK(none.with_tail(~0u).bits() == tail_mask);
  CHECK(none.with_ring(0xfffff).bits() == actor_word::ring_mask);
  CHECK(none.with_generation(~0u).bits() == 0x3full << 30);
  CHECK(all.with_tail(0).with_ring(0).with_generation(0).bits() == actor_word::flag_mask);
  CHECK(all.bits() + actor_word::tickets(1) == all.with_tail(0).bits());  // the carry drops out
  CHECK(none.with_tail(5).with_ring(7).with_generation(65).ring() == 7);
  CHECK(none.with_tail(5).with_ring(7).tail() == 5);
  CHECK(none.with_generation(65).of_generation(1));
  CHECK_FALSE(none.with_generation(2).of_generation(1));
  auto const flags = actor_word::running | actor_word::open | actor_word::paused | actor_word::pinned |
                     actor_word::signalled | actor_word::room_wanted;
  CHECK((flags & (actor_word::queued_mask | actor_word::ring_mask | tail_mask)) == 0);
  CHECK(((flags | actor_word::queued_mask) & ~actor_word::flag_mask) == 0);
  CHECK(__builtin_popcountll(flags) == 6);
}

TEST_CASE("the gate's fields do not overlap, and its room is signed", "[mailbox][G5]") {
  mail_gate gate{};
  CHECK(gate.seen().bits() == 0);
  CHECK_FALSE(gate.seen().is_open(0));
  gate.open(8191);
  CHECK(gate.seen().is_open(8191));
  CHECK(gate.seen().is_open(2 * 8192 - 1));  // 13 bits
  CHECK_FALSE(gate.seen().is_open(8190));
  CHECK_FALSE(gate.seen().has_room(0, 0));  // no ring
  gate.attach(0xfffff, ticket_mask);
  CHECK(gate.seen().ring() == 0xfffff);
  CHECK(gate.seen().room() == ticket_mask);
  CHECK(gate.seen().has_room(ticket_mask, 0));
  CHECK_FALSE(gate.seen().has_room(ticket_mask, 1));
  CHECK_FALSE(gate.end(0, ticket_mask, 8192));  // another ring
  CHECK(gate.take_room(64).room() == ticket_mask);
  CHECK_FALSE(gate.detach(0xfffff, ticket_mask));
  CHECK_FALSE(gate.end(0xfffff, ticket_mask, 8192));
  gate.give_room(64);
  REQUIRE(gate.detach(0xfffff, ticket_mask));
  for (int i = 0; i < 100'000; ++i) gate.take_room(64);  // what senders subtract in vain changes nothing else
  CHECK(gate.seen().room() == -6'400'000);
  CHECK(gate.seen().is_open(8191));
  gate.close();
  CHECK_FALSE(gate.seen().is_open(8191));
  REQUIRE(gate.end(0, ticket_mask, 8192));
  for (int i = 0; i < 100'000; ++i) gate.put_back(64);
  CHECK(gate.seen().bits() == 0);
  gate.open(8192);
  CHECK(gate.seen().is_open(8192));
}

TEST_CASE("higher priorities never have a later band", "[mailbox][G3]") {
  for (int p = 1; p < 256; ++p)
    CHECK(band_of(static_cast<std::uint8_t>(p)) <= band_of(static_cast<std::uint8_t>(p - 1)));
  CHECK(band_of(255) == 0);
  CHECK(band_of(0) == ready_bands - 1);
  CHECK(band_of(default_priority + 1) < band_of(default_priority));
}

TEST_CASE("zeroed memory is an unused ring at ticket 0", "[mailbox]") {
  test_arena a{{.actors = 1, .rings = 1, .ring_slots = 8, .heap_bytes = 4096}};
  auto const ring = a.ref().ring_at(1);
  for (std::uint32_t t = 0; t < 8; ++t) {
    CHECK_FALSE(ring.committed(t));
    CHECK(ring.taken((t - 8) & ticket_mask));
    CHECK_FALSE(ring.taken(t));
  }
}

TEST_CASE("a zeroed cell has no actor", "[mailbox][G7]") {
  test_arena a{{.actors = 1, .rings = 1, .ring_slots = 8, .heap_bytes = 4096}};
  CHECK(put(a.ref(), {0, 0}, 0, 0) == errc::actor_gone);
  CHECK(put(a.ref(), {0, 1}, 0, 0) == errc::actor_gone);
}

TEST_CASE("a mailbox behaves like a bounded std::deque", "[mailbox][G1][G2][G5]") {
  for (std::uint32_t const slots : {2u, 8u})
    for (std::uint32_t capacity = 1; capacity <= slots; ++capacity)
      for (std::uint32_t const start : {0u, 5u, tickets_near_overflow}) against_deque(slots, capacity, start);
}

TEST_CASE("messages to other generations and to no cell are refused", "[mailbox][G7]") {
  test_arena a{{.actors = 1, .rings = 1, .ring_slots = 2, .heap_bytes = 4096}};
  auto const id = a.launch_taker(0, 2);
  CHECK(put(a.ref(), {0, id.generation + 1}, 0, 0) == errc::actor_gone);
  CHECK(put(a.ref(), {0, id.generation + 64}, 0, 0) == errc::actor_gone);  // the same low bits
  CHECK(put(a.ref(), {1, 1}, 0, 0) == errc::actor_gone);
  CHECK(put(a.ref(), {host_ask_bit, 1}, 0, 0) == errc::actor_gone);
  CHECK(put(a.ref(), actor_id{}, 0, 0) == errc::actor_gone);
  CHECK(a.word(id).tail() == 0);
}

TEST_CASE("a missing ring is arena_full, a full mailbox is mailbox_full, and neither costs a ring",
          "[mailbox][G5]") {
  test_arena a{{.actors = 2, .rings = 1, .ring_slots = 2, .heap_bytes = 4096}};
  auto const first = a.launch_taker(0, 2), second = a.launch_taker(1, 2);
  CHECK(put(a.ref(), first, 0, 0, 3) == errc::batch_too_large);
  CHECK(a.ref().header().free_ring_count.load(memory_order::relaxed) == 1);
  REQUIRE(put(a.ref(), first, 0, 0) == errc::ok);
  CHECK(put(a.ref(), second, 0, 0) == errc::arena_full);
  CHECK(put(a.ref(), first, 0, 0, 2) == errc::mailbox_full);
}

// Regression: a team kept a ring that it had fetched for a message that was then refused.
TEST_CASE("a team does not keep a ring for a message that was refused", "[mailbox][G5]") {
  test_arena a{{.actors = 1, .rings = 1, .ring_slots = 2, .heap_bytes = 4096}};
  auto const id = a.launch_taker(0, 2);
  scheduler sched{a.ref(), true};
  note const notes[3] = {};
  CHECK(sched.post_batch(id, note_header(), reinterpret_cast<std::byte const*>(notes), sizeof(note),
                         sizeof(note), 3) == errc::batch_too_large);
  CHECK(a.ref().header().free_ring_count.load(memory_order::relaxed) == 1);
}

TEST_CASE("who holds a ring reserves the first slot of an idle actor, and only of that",
          "[mailbox][no_gates][G7]") {
  test_arena a{{.actors = 2, .rings = 2, .ring_slots = 4, .heap_bytes = 4096}};
  auto const id = a.launch_taker(0, 4);
  auto const ring = pop_free_ring(a.ref());
  std::uint32_t ticket = 0;
  auto const first_of = [&](actor_id to) { return reserve_first(a.ref(), to, ring, ticket); };
  CHECK_FALSE(first_of({id.index, id.generation + 64}));  // the word has six bits of it
  CHECK_FALSE(first_of({1, 1}));                          // was not launched
  CHECK_FALSE(first_of({2, 1}));                          // no cell
  CHECK(a.word(id).bits() == actor_word::idle(id.generation).bits());
  REQUIRE(first_of(id));
  CHECK(a.word(id).ring() == ring);
  CHECK(a.word(id).tail() == ticket + 1);
  CHECK(a.word(id).has(actor_word::queued_in(band_of(default_priority))));
  CHECK_FALSE(first_of(id));  // it holds a ring now
}

TEST_CASE("only a message that makes an actor more urgent queues it", "[mailbox][G3]") {
  test_arena a{{.actors = 1, .rings = 1, .ring_slots = 16, .heap_bytes = 4096}};
  auto const id = a.launch_taker(0, 16);
  auto const band = [&](std::uint8_t priority) {
    return rondo_test::reserve(a.ref(), id, priority, 1, false).queue_band;
  };
  CHECK(band(100) == 2);
  CHECK(band(100) == -1);
  CHECK(band(10) == -1);
  CHECK(band(150) == 1);
  CHECK(band(255) == 0);
  CHECK(band(150) == -1);
  scheduler sched{a.ref()};
  REQUIRE(sched.claim(0, actor_word::queued_mask));
  CHECK(band(100) == -1);  // running: its owner checks again before it releases the actor
  CHECK(band(255) == 0);   // the owner may already have checked
  CHECK(band(150) == -1);
}

TEST_CASE("a pinned actor is not marked as queued, because its successor would inherit the mark",
          "[mailbox][G3]") {
  test_arena a{{.actors = 1, .rings = 1, .ring_slots = 16, .heap_bytes = 4096}};
  scheduler sched{a.ref()};
  auto s = a.spec(0, 16);
  s.pinned = true;
  launch_actor<taker_module>(sched, s);
  CHECK_FALSE(sched.claim(0, actor_word::queued_in(0)));  // an entry of an earlier actor
  for (bool const runs : {false, true}) {
    if (runs) REQUIRE(sched.claim(0, 0));
    auto const r = rondo_test::reserve(a.ref(), s.id, 255, 1, false);
    REQUIRE(r.status == errc::ok);
    CHECK(r.queue_band == -1);
    CHECK(r.ring_doorbell == !runs);
    CHECK_FALSE(a.word(s.id).queued());
  }
}

TEST_CASE("a sender that wants room is notified once by the owner", "[mailbox][G5]") {
  test_arena a{{.actors = 1, .rings = 1, .ring_slots = 4, .heap_bytes = 4096}};
  auto const id = a.launch_taker(0, 3);
  scheduler sched{a.ref()};
  actor_totals totals{};
  REQUIRE(put(a.ref(), id, 0, 0, 3) == errc::ok);
  CHECK(put(a.ref(), id, 0, 3) == errc::mailbox_full);
  CHECK_FALSE(a.word(id).has(actor_word::room_wanted));
  for (int i = 0; i < 2; ++i) CHECK(put(a.ref(), id, 0, 3, 1, true) == errc::mailbox_full);
  CHECK(a.word(id).has(actor_word::room_wanted));
  REQUIRE(sched.claim(0, actor_word::queued_mask));
  note got{};
  REQUIRE(owned_mail(sched, id).try_take(got));
  CHECK(sched.release(0, totals).room_wanted);
  REQUIRE(sched.claim(0, actor_word::queued_mask));
  CHECK_FALSE(sched.release(0, totals).room_wanted);
  CHECK(put(a.ref(), id, 0, 3, 1, true) == errc::ok);
}

TEST_CASE("a message that is reserved and not yet committed holds back the ones behind it", "[mailbox][G2]") {
  test_arena a{{.actors = 1, .rings = 1, .ring_slots = 4, .heap_bytes = 4096}};
  a.start_rings_at(ticket_mask);
  auto const id = a.launch_taker(0, 4);
  scheduler sched{a.ref()};
  auto const slow = rondo_test::reserve(a.ref(), id, default_priority, 1, false);
  REQUIRE(put(a.ref(), id, 1, 1) == errc::ok);
  REQUIRE(sched.claim(0, actor_word::queued_mask));
  owned_mail mail{sched, id};
  note got{};
  CHECK_FALSE(mail.try_take(got));
  actor_totals totals{};
  sched.release(0, totals);
  CHECK(a.word(id).queued());  // otherwise the commit below would wake nobody
  REQUIRE(sched.claim(0, actor_word::queued_mask));
  note const n{0, 0};
  fill(slow.ring, slow.ticket, note_header(), &n, sizeof n);
  REQUIRE(mail.try_take(got));
  CHECK(got.sender == 0);
  REQUIRE(mail.try_take(got));
  CHECK(got.sender == 1);
}

TEST_CASE("senders and owners race for one mailbox and lose nothing", "[mailbox][stress][G1][G2][G4]") {
  stress_mailbox(2, 1, 0);
  stress_mailbox(16, 16, 0);
  stress_mailbox(16, 5, 0);
}

TEST_CASE("senders and owners race across the overflow of the tickets", "[mailbox][stress][G1][G2][G4]") {
  stress_mailbox(4, 4, ticket_mask - 4'000);
  stress_mailbox(16, 11, ticket_mask - 4'000);
}

TEST_CASE("in a window, messages of one type go together, and special ones alone", "[window]") {
  window_contents const some{8, 1u << 5, 1u << 3};
  CHECK(some.run_length(0) == 3);
  CHECK(some.run_length(3) == 2);
  CHECK(some.run_length(5) == 1);
  CHECK(some.run_length(6) == 2);
  CHECK(some.batch_length(0) == 3);
  CHECK(some.batch_length(3) == 5);
  CHECK(window_contents{4, 1u << 5, 1u << 3}.run_length(3) == 1);
  CHECK(window_contents{32, 0, 0}.run_length(0) == 32);
  CHECK(window_contents{32, 0, 0}.run_length(31) == 1);
}
