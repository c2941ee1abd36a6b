// The actors that wait for room in a mailbox. Each mailbox has a list of them, and an actor is in one list at most.
//
// Threads: any; an actor enters a list on the team that owns it.
// Ordering: `room`: a release exchange of `first` publishes a waiting actor's place to whoever takes the list. The
// actor then asks for room with a release exchange on the mailbox's word, which is acquired before the list is taken.
// `place`: who takes the list has read an actor's place before it gives that back with release; the next user of the
// place acquires.
#pragma once

#include "kernels/mail/scheduler.hpp"

namespace rondo {

/// Sends a control_room to each actor that waits for room in the mailbox with this index.
RONDO_CALL RONDO_HD inline void notify_of_room(scheduler& sched, std::uint32_t index) noexcept {
  arena_ref const& arena = sched.arena();
  auto& first = arena.room_list_of(index).first;
  // Acquire, both: the edge `room`. Of the word, because an actor may have asked between the owner's look at it and the
  // exchange that took `room_wanted` away, which only releases. Of the list, because an exchange continues the release
  // sequences of all that came before the last one.
  arena.cell(index).word.load(memory_order::acquire);
  if (first.load(memory_order::relaxed) == 0) return;  // relaxed: who asked before is seen
  for (auto next = first.exchange(0, memory_order::acquire); next != 0;) {
    auto const waiting = next - 1;
    auto& place = arena.room_list_of(waiting);
    actor_id const id{waiting, place.generation};
    next = place.next.load(memory_order::relaxed);  // relaxed: came with the list
    place.is_used.store(0, memory_order::release);  // the edge `place`
    sched.signal(id, control_room);
  }
}

/// Sends `self`, which the caller owns, a control_room when the mailbox of `to` has room again or is gone, perhaps at
/// once. It may come without a cause. False: `self` already waits for another mailbox, or `to` was never there: it must
/// try again.
RONDO_HD inline bool await_room(scheduler& sched, actor_id to, actor_id self) noexcept {
  arena_ref const& arena = sched.arena();
  auto& mine = arena.room_list_of(self.index);
  if (!arena.has_cell(to.index)) return false;
  if (mine.is_used.exchange(1, memory_order::acquire) != 0)  // the edge `place`
    return mine.generation == self.generation && mine.awaited == to;
  mine.generation = self.generation;
  mine.awaited = to;
  auto& first = arena.room_list_of(to.index).first;
  auto before = first.load(memory_order::relaxed);  // relaxed: the exchange validates it
  do mine.next.store(before, memory_order::relaxed);
  while (!first.compare_exchange(before, self.index + 1, memory_order::release,
                                 memory_order::relaxed));  // the edge `room`
  if (!ask_for_room(arena, to)) notify_of_room(sched, to.index);
  return true;
}

}  // namespace rondo
