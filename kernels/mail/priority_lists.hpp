// The owner's side of a mailbox: picks the next message by exact priority.
//
// A plain message has the default priority and is in no list: the owner takes these in the order of their slots, and
// while there are no others, this file does nothing more. A sender announces a message of another priority before it
// commits it. The owner links each into one of 256 first-in first-out lists and keeps a 256-bit map of the lists that
// are not empty. A message that is taken out of turn leaves a hole. The oldest slot's message moves into it, so that
// slots are given back in order and a mailbox is full only when it holds `capacity` messages. A plain message that has
// moved is in the list of the default priority. So to find and take an urgent message costs the same however many
// others wait.
//
// A message that the actor stashes stays in its slot, or moves as described. It leaves the list of its priority for the
// stash, which is one list more, until the actor unstashes.
//
// Threads: only the actor's owner (W2), except `announce_priority`.
// Invariants
//  P1 link(i).ticket has linked_bit if the message in slot i is in a list, or in the stash: then with stashed_bit, too.
//     The rest is its original ticket: its age, which a move does not change. Otherwise link(i).ticket is 0.
//     `linked` counts these messages and the pending ones (P2). While it is not 0, those from `head` up to
//     `first_plain` are linked.
//  P2 A message with another priority than the default is announced before its commit, and handled only from a list.
//     What is announced goes to the end of the pending messages, in its order; from their front, what is committed is
//     linked. So messages of one sender, or of one batch, are linked in their order.
//  P3 A stashed message was at the front of the list of its priority, or the first plain one, so it comes before all
//     that have this priority. Unstashing puts the last one back to the front first. Only the starvation limit looks at
//     ages across priorities; to it, a message that was stashed while 2^28 others came may seem young.
//  P4 Plain messages come after those in the list of the default priority.
// Ordering
//  announce   sender's release exchange of `announced` -> owner's acquire exchange of it: the links between what is
//             announced.
#pragma once

#include "kernels/mail/arena.hpp"
#include "kernels/mail/mail_run.hpp"

namespace rondo {

/// Sender: tells the owner of `count` messages that are about to be committed, whose priority is not the default (P2).
/// Call it after reserve and before fill.
RONDO_HOT RONDO_HD inline void announce_priority(owner_cell& own, mail_ring_ref const& ring,
                                                 std::uint32_t ticket, std::uint32_t count) noexcept {
  auto const slot = [&](std::uint32_t i) { return (ticket + i) & (ring.slot_count - 1); };
  for (std::uint32_t i = 1; i < count; ++i) ring.link(slot(i)).next = slot(i - 1) + 1;
  auto before = own.announced.load(memory_order::relaxed);  // relaxed: the exchange validates it
  do ring.link(slot(0)).next = before;
  while (!own.announced.compare_exchange(before, slot(count - 1) + 1, memory_order::release,
                                         memory_order::relaxed));  // the edge `announce`
}

class priority_lists_ref {
 public:
  RONDO_HOT RONDO_HD priority_lists_ref(arena_ref const& arena, actor_cell& cell,
                                        mail_ring_ref const& ring) noexcept
      : priority_lists_ref(arena, cell, arena.owner(cell), ring) {}
  RONDO_HOT RONDO_HD priority_lists_ref(arena_ref const& arena, actor_cell& cell, owner_cell& own,
                                        mail_ring_ref const& ring) noexcept
      : arena_(arena), cell_(cell), own_(own), ring_(ring) {}

  /// Sets `ticket` to the slot to handle next, and returns how many messages begin there: more than one if it is a run
  /// (mail_run.hpp), 0 if no message is committed.
  RONDO_HOT RONDO_HD std::uint32_t pick(std::uint32_t& ticket) noexcept {
    ticket = own_.head;
    // Relaxed: as in has_next_in_order. Both loads before the first branch: on a GPU they are of one trip.
    auto const announced = own_.announced.load(memory_order::relaxed);
    auto const count = ring_.count_at(ticket, polling);
    if (own_.linked == 0 && announced == 0) [[likely]] {
      if (count != 0) acquire_found();
      if (count != 1) return count;
      if (has_default_priority(ticket)) [[likely]]
        return 1;  // otherwise it was announced just now
    }
    return pick_by_priority(ticket);
  }
  RONDO_HD bool pick_by_priority(std::uint32_t& ticket) noexcept {
    link_announced();
    bool const any_plain = has_plain();
    if (!any_plain && !has_listed()) return false;
    if (own_.overtakes >= arena_.shape().starvation_limit)
      ticket = oldest();
    else if (has_listed() && (!any_plain || highest() >= default_priority))  // P4
      ticket = ring_ticket(list(highest()).first);
    else
      ticket = first_plain();
    return ticket == own_.head || is_linked(index(own_.head)) || is_plain(own_.head);  // then it can move
  }

  /// Whether the message after this one in the ring comes next, if it is committed.
  RONDO_HOT RONDO_HD bool has_next_in_order() const noexcept {
    // Relaxed: a thread that sees a commit also sees that it was announced.
    auto const announced = own_.announced.load(memory_order::relaxed);
    return own_.linked == 0 && announced == 0;
  }
  /// Whether all messages are plain, so that several may be taken at once.
  RONDO_HD bool in_order() const noexcept { return own_.linked == 0; }
  RONDO_HOT RONDO_HD bool has_default_priority(std::uint32_t ticket) const noexcept {
    return ring_.slot(ticket).header.priority == default_priority;
  }

  /// Gives back the message that `pick` chose, once it is completed.
  RONDO_HOT RONDO_HD void take(std::uint32_t ticket) noexcept {
    if (!in_order()) [[unlikely]]
      return take_linked(ticket);
    give_back();
    own_.overtakes = 0;
  }
  RONDO_HD void take_linked(std::uint32_t ticket) noexcept {
    leave_turn(ticket);
    if (auto const hole = index(ticket), i = index(own_.head); hole != i) {
      ring_.slots[hole].header = ring_.slots[i].header;
      __builtin_memcpy(ring_.slots[hole].payload, ring_.slots[i].payload, max_payload_bytes);
      is_linked(i) ? move_link(i, hole) : link_last(hole, own_.head);
    }
    if (own_.first_plain == own_.head) own_.first_plain = (own_.head + 1) & ticket_mask;
    give_back();
  }

  /// Gives back the `count` oldest messages. Precondition: in_order() when they were picked.
  RONDO_HD void take_many(std::uint32_t count) noexcept {
    if (!in_order()) {
      for (; count != 0; --count) take_linked(own_.head);
      return;
    }
    give_back(count);
  }

  /// Stashes a message, once its handler has returned: the one that `pick` chose, or a plain one. Its slot does not
  /// change.
  RONDO_CALL RONDO_HD void stash(std::uint32_t ticket) noexcept {
    auto const i = index(ticket);
    auto const age = is_linked(i) ? ring_.link(i).ticket : ticket | linked_bit;
    leave_turn(ticket);
    count_linked();
    slot_link& link = ring_.link(i);
    link.ticket = age | stashed_bit;
    link.previous = ring_.stash().last;
    append(ring_.stash(), i);
  }
  /// Puts all stashed messages back into the lists of their priorities (P3). No slot changes: a handler may call it.
  RONDO_CALL RONDO_HD void unstash() noexcept {
    slot_queue& aside = ring_.stash();
    for (; aside.count != 0; --aside.count) {
      auto const i = aside.last;
      aside.last = ring_.link(i).previous;
      ring_.link(i).ticket &= ~stashed_bit;
      link_first(i);
    }
  }
  /// Whether, as of `then`, there is no room, and stashed messages take some of it: they may for long, so senders that
  /// wait for room would be woken in vain, again and again.
  RONDO_HD bool stash_leaves_no_room(actor_word then) const noexcept {
    return ring_.stash().count != 0 && own_.is_full(then, mailbox_limits{cell_.limits.load_own()}.capacity());
  }
  /// Whether some of the `count` messages that wait are not stashed.
  RONDO_HD bool has_more_than_stash(std::uint32_t count) const noexcept {
    return in_order() ? count != 0 : count != ring_.stash().count;
  }

  /// The priority of the most urgent message; the default if none is visible.
  RONDO_HD std::uint8_t most_urgent() noexcept {
    link_announced();
    if (!has_listed() || (highest() < default_priority && has_plain())) return default_priority;
    return static_cast<std::uint8_t>(highest());
  }

  /// Links every committed message whose priority is not the default (P2).
  RONDO_HD void link_announced() noexcept {
    slot_queue& pending = ring_.pending();
    // Relaxed: as in pick. Acquire: the edge `announce`.
    if (own_.announced.load(memory_order::relaxed) != 0)
      await_commits(own_.announced.exchange(0, memory_order::acquire));
    if (in_order()) return;
    for (; pending.count != 0; --pending.count) {
      auto const i = pending.first;
      if (!ring_.committed(ring_ticket(i))) return;
      pending.first = ring_.link(i).next;
      --own_.linked;
      link_last(i, ring_ticket(i));
    }
  }

  /// The number of messages of one priority that are committed, with the stashed ones; walks the lists and the slots.
  RONDO_HD std::uint32_t depth_of(std::uint32_t level) noexcept {
    std::uint32_t depth = has(level) ? 1 : 0;
    for (auto i = list(level).first; depth != 0 && i != list(level).last; i = ring_.link(i).next) ++depth;
    for_each_stashed(
        ring_, [&](std::uint32_t i) { depth += std::uint32_t{ring_.slots[i].header.priority == level}; });
    if (level != default_priority) return depth;
    for (std::uint32_t n = 0, step = 0; n < ring_.slot_count; n += step) {
      auto const t = (own_.head + n) & ticket_mask;
      auto const run = ring_.count_at(t);
      depth += run > 1 ? run : std::uint32_t{is_plain(t)};
      step = run > 1 ? run : 1;
    }
    return depth;
  }
  RONDO_HD static constexpr bool is_linked(slot_link const& link) noexcept {
    return (link.ticket & linked_bit) != 0;
  }
  RONDO_HD static constexpr bool is_stashed(slot_link const& link) noexcept {
    return (link.ticket & stashed_bit) != 0;
  }
  /// Calls f(slot) for each message in the stash of `ring`, in order.
  template <class F>
  RONDO_HD static void for_each_stashed(mail_ring_ref const& ring, F const& f) {
    auto i = ring.stash().first;
    for (auto left = ring.stash().count; left != 0; --left, i = ring.link(i).next) f(i);
  }

 private:
  static constexpr std::uint32_t linked_bit = 1u << 30, stashed_bit = 1u << 31;
  static_assert(((linked_bit | stashed_bit) & ticket_mask) == 0);

  /// Gives the slots of the `count` oldest messages back to the senders.
  RONDO_HOT RONDO_HD void give_back(std::uint32_t count = 1) noexcept {
    auto const first = own_.head;
    own_.set_head(first + count);
    if (arena_.has_gates()) [[unlikely]]
      return cell_.gate.give_room(count);
    for (std::uint32_t i = 0; i < count; ++i) ring_.give_back((first + i) & ticket_mask);
  }
  RONDO_HD std::uint32_t index(std::uint32_t ticket) const noexcept {
    return ticket & (ring_.slot_count - 1);
  }
  /// The ticket between head and head + slot_count whose slot is `i`.
  RONDO_HD std::uint32_t ring_ticket(std::uint32_t i) const noexcept {
    return (own_.head + ((i - own_.head) & (ring_.slot_count - 1))) & ticket_mask;
  }
  RONDO_HD bool is_linked(std::uint32_t i) const noexcept { return is_linked(ring_.link(i)); }
  RONDO_HD bool has(std::uint32_t level) const noexcept {
    return (own_.levels[level >> 6] >> (level & 63) & 1) != 0;
  }
  RONDO_HD priority_list& list(std::uint32_t level) const noexcept { return ring_.list(level); }
  RONDO_HD std::uint32_t level_of(std::uint32_t i) const noexcept { return ring_.slots[i].header.priority; }
  /// Whether some message is in the list of its priority.
  RONDO_HD bool has_listed() const noexcept {
    return (own_.levels[0] | own_.levels[1] | own_.levels[2] | own_.levels[3]) != 0;
  }

  RONDO_HD std::uint32_t highest() const noexcept {
    for (int w = 3; w > 0; --w)
      if (own_.levels[w] != 0) return static_cast<std::uint32_t>(64 * w + highest_bit(own_.levels[w]));
    return static_cast<std::uint32_t>(highest_bit(own_.levels[0]));
  }

  /// The ticket of the oldest slot that may hold a plain message.
  RONDO_HD std::uint32_t first_plain() noexcept {
    if (in_order()) return own_.head;
    auto& first = own_.first_plain;
    while (is_linked(index(first)) && first != ((own_.head + ring_.slot_count) & ticket_mask))
      first = (first + 1) & ticket_mask;
    // What is picked by priority is handled, moved and linked singly.
    if (auto const count = sends_runs ? ring_.count_at(first) : 0; count > 1)
      mail_run(ring_, first, count).unpack();
    return first;
  }
  RONDO_HD bool has_plain() noexcept { return is_plain(first_plain()); }
  RONDO_HD bool is_plain(std::uint32_t ticket) const noexcept {
    return !is_linked(index(ticket)) && ring_.committed(ticket) && has_default_priority(ticket);
  }

  /// The ticket of the oldest message, which is at the front of its level's list, or the first plain one.
  RONDO_HD std::uint32_t oldest() noexcept {
    auto const end = own_.head + ring_.slot_count;  // after all tickets
    std::uint32_t best = 0, best_age = 0;
    if (has_plain()) best = first_plain(), best_age = (end - best) & ticket_mask;
    for (std::uint32_t w = 0; w < 4; ++w)
      for (auto bits = own_.levels[w]; bits != 0; bits &= bits - 1) {
        auto const i = list(64 * w + static_cast<std::uint32_t>(lowest_bit(bits))).first;
        auto const age = (end - ring_.link(i).ticket) & ticket_mask;
        if (age >= best_age) best_age = age, best = ring_ticket(i);
      }
    return best;
  }

  RONDO_HD void count_linked() noexcept {
    if (own_.linked++ == 0) own_.first_plain = own_.head;
  }
  /// Adds slot `i` to the end of a queue.
  RONDO_HD void append(slot_queue& q, std::uint32_t i) noexcept {
    if (q.count++ == 0)
      q.first = i;
    else
      ring_.link(q.last).next = i;
    q.last = i;
  }
  /// Adds what was announced to the pending messages. `newest`: its slot + 1; the links lead to older ones.
  RONDO_CALL RONDO_HD void await_commits(std::uint32_t newest) noexcept {
    std::uint32_t oldest = 0;  // turns the links around
    while (newest != 0) {
      auto& next = ring_.link(newest - 1).next;
      auto const older = next;
      next = oldest;
      oldest = newest;
      newest = older;
    }
    while (oldest != 0) {
      auto const i = oldest - 1;
      oldest = ring_.link(i).next;
      count_linked();
      append(ring_.pending(), i);
    }
  }

  /// Puts the message of slot `i` at the end of the list of its priority. `ticket`: its original one.
  RONDO_HD void link_last(std::uint32_t i, std::uint32_t ticket) noexcept {
    auto const level = level_of(i);
    count_linked();
    ring_.link(i).ticket = ticket | linked_bit;
    priority_list& l = list(level);
    if (has(level)) {
      ring_.link(i).previous = l.last;
      ring_.link(l.last).next = i;
    } else {
      own_.levels[level >> 6] |= 1ull << (level & 63);
      l.first = i;
    }
    l.last = i;
  }
  /// For a message that comes before all in the list of its priority, and is counted as linked.
  RONDO_HD void link_first(std::uint32_t i) noexcept {
    auto const level = level_of(i);
    priority_list& l = list(level);
    if (has(level)) {
      ring_.link(i).next = l.first;
      ring_.link(l.first).previous = i;
    } else {
      own_.levels[level >> 6] |= 1ull << (level & 63);
      l.last = i;
    }
    l.first = i;
  }

  /// Unlinks the message whose turn it was.
  RONDO_HD void leave_turn(std::uint32_t ticket) noexcept {
    own_.overtakes = oldest() == ticket ? 0 : own_.overtakes + 1;
    auto const i = index(ticket);
    if (!is_linked(i)) return;
    unlink(i);
    ring_.link(i).ticket = 0;
    --own_.linked;
  }
  RONDO_HD void unlink(std::uint32_t i) noexcept {
    auto const level = level_of(i);
    priority_list& l = list(level);
    slot_link const gone = ring_.link(i);
    if (l.first == l.last) {
      own_.levels[level >> 6] &= ~(1ull << (level & 63));
    } else if (l.first == i) {
      l.first = gone.next;
    } else if (l.last == i) {
      l.last = gone.previous;
    } else {
      ring_.link(gone.previous).next = gone.next;
      ring_.link(gone.next).previous = gone.previous;
    }
  }

  /// Gives the place of slot `from` in its list, or in the stash, to slot `to`, which holds its message now.
  RONDO_HD void move_link(std::uint32_t from, std::uint32_t to) noexcept {
    slot_link const moved = ring_.link(to) = ring_.link(from);
    ring_.link(from).ticket = 0;
    priority_list& l = is_stashed(moved) ? ring_.stash() : list(level_of(to));
    if (l.first == from)
      l.first = to;
    else
      ring_.link(moved.previous).next = to;
    if (l.last == from)
      l.last = to;
    else
      ring_.link(moved.next).previous = to;
  }

  arena_ref const& arena_;
  actor_cell& cell_;
  owner_cell& own_;
  mail_ring_ref const& ring_;
};

}  // namespace rondo
