// The helpers of the kernels' scenarios: a small arena in watched memory, numbered notes, and the owner's access to
// them.
#pragma once

#include <cstdlib>

#include "kernels/actor/launch.hpp"
#include "tests/model/gates.hpp"

namespace model {

using namespace rondo;

/// The content of a message: its sender, and how many the sender sent before it.
struct note {
  std::uint32_t sender, number;
};

/// The behaviour of the actors. Its handler must not run: the scenarios take the mail from the mailbox themselves, as
/// owners.
struct taker {
  using messages = rondo::messages<note>;
  void on(context&, note const&) { std::abort(); }
};

inline message_header note_header(std::uint8_t priority = default_priority) {
  message_header h;
  h.type = type_id<note>;
  h.priority = priority;
  return h;
}

inline arena_shape as_worlds_have(arena_shape shape) {
  shape.gates = worlds_have_gates;
  return shape;
}

class arena_world {
 public:
  /// Rings begin at ticket `first_ticket`, as if that many messages had gone through each.
  arena_world(execution& x, arena_shape const& shape, std::uint32_t first_ticket = 0)
      : arena_(arena_ref::format(x.memory(arena_ref::bytes_for(shape), 4096), as_worlds_have(shape))),
        heap_(arena_.header().heap_at) {
    for (std::uint32_t id = 1; id <= shape.rings; ++id) {
      auto const ring = arena_.ring_at(id);
      arena_.ring(id).tail = first_ticket & ticket_mask;
      for (std::uint32_t i = 0; i < ring.slot_count; ++i)
        ring.slot(first_ticket + i).sequence.store(ring.lap(first_ticket + i), memory_order::relaxed);
    }
  }

  arena_ref const& arena() const noexcept { return arena_; }

  launch_spec spec(std::uint32_t index, std::uint32_t capacity, std::uint32_t generation = 1) {
    launch_spec s{};
    s.id = {index, generation};
    s.state_offset = heap_;
    s.capacity = capacity;
    s.active = true;
    heap_ += 128;
    return s;
  }
  template <class Behaviour = taker>
  actor_id launch(std::uint32_t index, std::uint32_t capacity) {
    scheduler sched{arena_};
    auto const s = spec(index, capacity);
    launch_actor<module_of<Behaviour>>(sched, s);
    return s.id;
  }

 private:
  arena_ref arena_;
  std::uint64_t heap_;
};

inline errc post(scheduler& sched, actor_id to, note n, std::uint8_t priority = default_priority) {
  return sched.post(to, note_header(priority), &n, sizeof n);
}

/// All of them or none.
template <std::size_t Count>
errc post_batch(scheduler& sched, actor_id to, note const (&notes)[Count]) {
  return sched.post_batch(to, note_header(), reinterpret_cast<std::byte const*>(notes), sizeof(note),
                          sizeof(note), Count);
}

/// The owner's view of one actor's mail.
class owned_mail {
 public:
  owned_mail(scheduler& sched, std::uint32_t index) : sched_(sched), cell_(sched.arena().cell(index)) {}

  /// Takes the next message, if one is committed.
  bool try_take(note& out, std::uint8_t& priority) {
    actor_word const word{cell_.word.load(memory_order::acquire)};
    if (word.ring() == 0) return false;
    sched_.adopt_ring(sched_.arena().owner(cell_), word);
    ring_ = sched_.arena().ring_at(word.ring());
    priority_lists_ref lists{sched_.arena(), cell_, ring_};
    std::uint32_t ticket = 0;
    auto const count = lists.pick(ticket);
    if (count == 0) return false;
    if (count > 1) mail_run(ring_, ticket, count).unpack();
    __builtin_memcpy(&out, ring_.slot(ticket).payload, sizeof out);
    priority = ring_.slot(ticket).header.priority;
    lists.take(ticket);
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

/// Takes mail and checks that no sender's note is lost, doubled or overtaken. Not atomic: only the owner may call it.
struct ledger {
  std::uint32_t next[max_threads] = {};
  std::uint32_t taken = 0;

  void enter(execution& x, note n) {
    x.require(n.sender < max_threads && n.number == next[n.sender], [&] {
      return "note " + std::to_string(n.number) + " of sender " + std::to_string(n.sender) + " came where " +
             std::to_string(n.sender < max_threads ? next[n.sender] : 0) + " was due";
    });
    ++next[n.sender];
    ++taken;
  }
};

}  // namespace model
