// The helpers of the kernels' tests: an arena in ordinary memory, actors in it, seeds, and rings close to overflow.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kernels/actor/launch.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/seed.hpp"

namespace rondo_test {

using namespace rondo;

/// One seed for all tests of this process.
inline std::uint64_t test_seed() {
  static std::uint64_t const seed = seed_of("all tests of this process");
  return seed;
}

class random_source {
 public:
  explicit random_source(std::uint64_t stream = 0)
      : engine_(test_seed() * 0x9e37'79b9'7f4a'7c15ull + stream) {}
  /// A number in 0..n-1.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(engine_() % n); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

/// A message that carries its sender and a number that the sender increments.
struct note {
  std::uint32_t sender, number;
};

/// A behaviour for tests that take the messages themselves.
struct taker {
  using messages = rondo::messages<note>;
  void on(context&, note const&) {}
};
using taker_module = module_of<taker>;

inline message_header note_header(std::uint8_t priority = default_priority) {
  message_header h;
  h.type = type_id<note>;
  h.priority = priority;
  return h;
}

/// Reserves as a host thread does, which does not keep a ring for itself.
inline reservation reserve(arena_ref const& arena, actor_id to, std::uint8_t priority, std::uint32_t count,
                           bool want_room) {
  sender from;
  auto const r = rondo::reserve(arena, to, priority, count, want_room, from);
  if (from.spare_ring != 0) push_free_ring(arena, from.spare_ring);
  return r;
}

inline constexpr std::uint32_t tickets_near_overflow = ticket_mask - 20;

/// Whether mailboxes have gates: ctest runs the cases of mailboxes without and with them.
inline bool tests_have_gates() {
  static bool const they_have = std::getenv("RONDO_TEST_GATES") != nullptr;
  return they_have;
}

/// Zeroed, formatted memory for one ring kernel.
class test_arena {
 public:
  explicit test_arena(arena_shape shape)
      : bytes_(arena_ref::bytes_for(shape)),
        memory_(static_cast<std::byte*>(::operator new (bytes_, std::align_val_t{4096}))) {
    std::memset(memory_.get(), 0, bytes_);
    shape.gates = tests_have_gates();
    ref_ = arena_ref::format(memory_.get(), shape);
    heap_ = ref_.header().heap_at;
  }

  arena_ref const& ref() const { return ref_; }
  std::uint64_t bytes() const { return bytes_; }
  actor_word word(actor_id id) const {
    return actor_word{ref_.cell(id.index).word.load(memory_order::acquire)};
  }

  /// A 64-aligned piece of the heap.
  std::uint64_t claim(std::uint64_t bytes) {
    auto const at = align_up(heap_, 128);
    heap_ = at + bytes;
    REQUIRE(heap_ <= ref_.header().bytes);
    return at;
  }

  /// How to launch behaviour `behaviour` in cell `index`, active, on a shared ring.
  launch_spec spec(std::uint32_t index, std::uint32_t capacity, std::uint16_t behaviour = 0) {
    launch_spec s{};
    s.id = {index, 1};
    s.state_offset = claim(256);
    s.capacity = capacity;
    s.behaviour = behaviour;
    s.active = true;
    return s;
  }

  /// An active actor whose messages the test takes itself.
  actor_id launch_taker(std::uint32_t index, std::uint32_t capacity) {
    scheduler sched{ref_};
    auto const s = spec(index, capacity);
    launch_actor<taker_module>(sched, s);
    return s.id;
  }

  /// Sets every shared ring as if `ticket` messages had already gone through it.
  void start_rings_at(std::uint32_t ticket) {
    for (std::uint32_t id = 1; id <= ref_.shape().rings; ++id) {
      auto const ring = ref_.ring_at(id);
      ref_.ring(id).tail = ticket & ticket_mask;
      for (std::uint32_t i = 0; i < ring.slot_count; ++i) {
        auto const t = ticket + i;
        ring.slot(t).sequence.store(ring.lap(t), memory_order::relaxed);  // R1; no other thread exists yet
      }
    }
  }

 private:
  struct aligned_delete {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{4096}); }
  };
  std::uint64_t bytes_;
  std::unique_ptr<std::byte, aligned_delete> memory_;
  arena_ref ref_;
  std::uint64_t heap_ = 0;
};

/// The owner's view of an actor's mail, for a test that has claimed it.
class owned_mail {
 public:
  owned_mail(scheduler& sched, actor_id id) : sched_(sched), cell_(sched.arena().cell(id.index)) { look(); }

  /// Finds a ring that a sender has attached since the last look.
  void look() {
    actor_word const word{cell_.word.load(memory_order::acquire)};
    if (word.ring() == 0) return;
    sched_.adopt_ring(sched_.arena().owner(cell_), word);
    ring_ = sched_.arena().ring_at(word.ring());
  }
  bool has_ring() const { return ring_.slots != nullptr; }
  mail_ring_ref ring() const { return ring_; }
  priority_lists_ref priority_lists() const { return {sched_.arena(), cell_, ring_}; }

  /// Takes the next message, if one is committed.
  bool try_take(note& out, std::uint8_t& priority) {
    if (!has_ring()) look();
    std::uint32_t ticket = 0;
    auto const count = has_ring() ? priority_lists().pick(ticket) : 0;
    if (count == 0) return false;
    if (count > 1) mail_run(ring_, ticket, count).unpack();
    std::memcpy(&out, ring_.slot(ticket).payload, sizeof out);
    priority = ring_.slot(ticket).header.priority;
    priority_lists().take(ticket);
    return true;
  }
  bool try_take(note& out) {
    std::uint8_t priority = 0;
    return try_take(out, priority);
  }

 private:
  scheduler& sched_;
  actor_cell& cell_;
  mail_ring_ref ring_{};
};

}  // namespace rondo_test
