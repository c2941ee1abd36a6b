// The owner's side of a mailbox: picks the next message by exact priority.
//
// While all mail has the default priority, the owner takes the oldest slot and this file does nothing more. Once a sender has
// raised the alert, the owner links the committed slots into 256 first-in first-out lists and keeps a 256-bit map of the lists
// that are not empty. A message that is taken out of turn leaves a hole. The oldest message moves into it, so that slots are
// given back in order and a mailbox is full only when it holds `capacity` messages.
//
// A message that the actor stashes stays in its slot, or moves as described. It leaves the list of its priority for the stash,
// which is one list more, until the actor unstashes. Meanwhile all others are linked when they come.
//
// Threads: only the actor's owner (W2).
// Invariants
//  P1 Messages head..scanned are linked, each in the list of its priority or in the stash, oldest first. links[i].ticket is the
//     original ticket of the message in slot i: its age, which a move does not change; and stashed_bit, if it is in the stash.
//  P2 alert_seen counts the messages with a non-default priority that were linked or taken in turn. It never passes the
//     alert, which is raised before the commit. While the lists are empty (scanned == head) and the two are equal, no such
//     message is left, even behind a slot that is still being written, so the oldest slot is the right choice. If the mailbox has
//     reserved room, the alert is one ahead from the start: the owner links each message when it comes, so an urgent one is never
//     found behind many that are still to be linked.
//  P3 A stashed message was at the front of the list of its priority, so it comes before all in this list. Unstashing puts the
//     last one back to the front first. Only the starvation limit looks at ages across priorities; to it, a message that was
//     stashed while 2^28 others came may seem young.
#pragma once

#include "kernels/mail/arena.hpp"

namespace rondo {

class priority_lists_ref {
 public:
  RONDO_HOT RONDO_HD priority_lists_ref(actor_cell& cell, mail_ring_ref const& ring,
                                        std::uint32_t starvation_limit) noexcept
      : cell_(cell), ring_(ring), limit_(starvation_limit) {}

  /// Sets `ticket` to the slot to handle next. False if no message is committed.
  RONDO_HOT RONDO_HD bool pick(std::uint32_t& ticket) noexcept {
    ticket = cell_.head;
    // Relaxed: a thread that sees a commit also sees its alert.
    if (cell_.scanned == ticket && cell_.alert.load(memory_order::relaxed) == cell_.alert_seen) [[likely]]
      return ring_.committed(ticket);
    return pick_by_priority(ticket);
  }
  RONDO_HD bool pick_by_priority(std::uint32_t& ticket) noexcept {
    scan();
    if (!has_linked()) return false;
    ticket = cell_.overtakes >= limit_ ? oldest() : ring_ticket(list(highest()).first);
    return true;
  }

  /// Whether messages are currently taken in slot order, so that several may be taken at once.
  RONDO_HD bool in_order() const noexcept { return cell_.scanned == cell_.head; }

  /// Gives back the message that `pick` chose, once it is completed.
  RONDO_HOT RONDO_HD void take(std::uint32_t ticket) noexcept {
    if (!in_order()) [[unlikely]]
      return take_linked(ticket);
    count_alert(ring_.slot(ticket).header.priority);
    ring_.give_back(ticket);
    cell_.head = cell_.scanned = (ticket + 1) & ticket_mask;
    cell_.overtakes = 0;
  }
  RONDO_HD void take_linked(std::uint32_t ticket) noexcept {
    leave_list(ticket);
    if (ticket != cell_.head) move(index(cell_.head), index(ticket));
    ring_.give_back(cell_.head);
    cell_.head = (cell_.head + 1) & ticket_mask;
  }

  /// Gives back the `count` oldest messages, which have one priority. Precondition: in_order() when they were picked.
  RONDO_HD void take_run(std::uint32_t count) noexcept {
    if (!in_order()) {
      for (; count != 0; --count) take_linked(cell_.head);
      return;
    }
    // Before the release: a slot that is given back may hold another message.
    count_alert(ring_.slot(cell_.head).header.priority, count);
    auto const order = release_once();
    for (std::uint32_t i = 0; i < count; ++i) ring_.give_back((cell_.head + i) & ticket_mask, order);
    cell_.head = cell_.scanned = (cell_.head + count) & ticket_mask;
  }

  /// Stashes the message that `pick` chose, once its handler has returned. Its slot does not change.
  RONDO_CALL RONDO_HD void stash(std::uint32_t ticket) noexcept {
    scan();  // while messages are taken in slot order, none is linked
    leave_list(ticket);
    auto const i = index(ticket);
    stash_list& aside = ring_.stash();
    ring_.links[i].ticket |= stashed_bit;
    if (aside.count++ == 0) {
      aside.first = i;
    } else {
      ring_.links[i].previous = aside.last;
      ring_.links[aside.last].next = i;
    }
    aside.last = i;
  }
  /// Puts all stashed messages back into the lists of their priorities (P3). No slot changes: a handler may call it.
  RONDO_CALL RONDO_HD void unstash() noexcept {
    stash_list& aside = ring_.stash();
    for (; aside.count != 0; --aside.count) {
      auto const i = aside.last;
      aside.last = ring_.links[i].previous;
      ring_.links[i].ticket &= ticket_mask;
      link_first(i);
    }
  }
  /// Whether, as of `then`, there is no room, and stashed messages take some of it: they may for long, so senders that wait for
  /// room would be woken in vain, again and again.
  RONDO_HD bool stash_leaves_no_room(actor_word then) const noexcept {
    return ring_.stash().count != 0 && cell_.is_full(then);
  }
  /// Whether some of the `count` messages that wait are not stashed.
  RONDO_HD bool has_more_than_stash(std::uint32_t count) const noexcept {
    return in_order() ? count != 0 : count != ring_.stash().count;
  }
  /// Whether the message `ticket` is linked; if not, it may be once one before it is committed.
  RONDO_HD bool links_through(std::uint32_t ticket) noexcept {
    scan();
    return ((ticket - cell_.head) & ticket_mask) < ((cell_.scanned - cell_.head) & ticket_mask);
  }

  /// The priority of the most urgent message; the default if none is visible.
  RONDO_HD std::uint8_t most_urgent() noexcept {
    // Relaxed: as in pick. Without the scan, urgent mail behind ordinary mail would be missed.
    if (cell_.scanned != cell_.head || cell_.alert.load(memory_order::relaxed) != cell_.alert_seen) scan();
    if (has_linked()) return static_cast<std::uint8_t>(highest());
    return in_order() && ring_.committed(cell_.head) ? ring_.slot(cell_.head).header.priority
                                                     : default_priority;
  }

  /// Links every committed message that is not linked yet.
  RONDO_HD void scan() noexcept {
    while (((cell_.scanned - cell_.head) & ticket_mask) < ring_.slot_count &&
           ring_.committed(cell_.scanned)) {
      link(cell_.scanned);
      cell_.scanned = (cell_.scanned + 1) & ticket_mask;
    }
  }

  /// The number of linked messages of one priority, with the stashed ones; walks the lists.
  RONDO_HD std::uint32_t depth_of(std::uint32_t level) const noexcept {
    std::uint32_t depth = has(level) ? 1 : 0;
    for (auto i = list(level).first; depth != 0 && i != list(level).last; i = ring_.links[i].next) ++depth;
    for_each_stashed(
        ring_, [&](std::uint32_t i) { depth += std::uint32_t{ring_.slots[i].header.priority == level}; });
    return depth;
  }
  RONDO_HD static constexpr bool is_stashed(slot_link const& link) noexcept {
    return (link.ticket & stashed_bit) != 0;
  }
  /// Calls f(slot) for each message in the stash of `ring`, in order.
  template <class F>
  RONDO_HD static void for_each_stashed(mail_ring_ref const& ring, F const& f) {
    auto i = ring.stash().first;
    for (auto left = ring.stash().count; left != 0; --left, i = ring.links[i].next) f(i);
  }

 private:
  static constexpr std::uint32_t stashed_bit = 1u << 31;
  static_assert((stashed_bit & ticket_mask) == 0);

  /// Counts a message that is linked or taken in turn (P2).
  RONDO_HD void count_alert(std::uint32_t priority, std::uint32_t messages = 1) noexcept {
    if (priority != default_priority) cell_.alert_seen += messages;
  }
  RONDO_HD std::uint32_t index(std::uint32_t ticket) const noexcept {
    return ticket & (ring_.slot_count - 1);
  }
  /// The ticket between head and head + slot_count whose slot is `i`.
  RONDO_HD std::uint32_t ring_ticket(std::uint32_t i) const noexcept {
    return (cell_.head + ((i - cell_.head) & (ring_.slot_count - 1))) & ticket_mask;
  }
  RONDO_HD bool has(std::uint32_t level) const noexcept {
    return (cell_.levels[level >> 6] >> (level & 63) & 1) != 0;
  }
  RONDO_HD priority_list& list(std::uint32_t level) const noexcept { return ring_.lists[level]; }
  /// Whether some message is in the list of its priority.
  RONDO_HD bool has_linked() const noexcept {
    return (cell_.levels[0] | cell_.levels[1] | cell_.levels[2] | cell_.levels[3]) != 0;
  }

  RONDO_HD std::uint32_t highest() const noexcept {
    for (int w = 3; w > 0; --w)
      if (cell_.levels[w] != 0) return static_cast<std::uint32_t>(64 * w + highest_bit(cell_.levels[w]));
    return static_cast<std::uint32_t>(highest_bit(cell_.levels[0]));
  }

  /// The ticket of the oldest message, which is at the front of its level's list.
  RONDO_HD std::uint32_t oldest() const noexcept {
    std::uint32_t best = 0, best_age = 0;
    for (std::uint32_t w = 0; w < 4; ++w)
      for (auto bits = cell_.levels[w]; bits != 0; bits &= bits - 1) {
        auto const i = list(64 * w + static_cast<std::uint32_t>(lowest_bit(bits))).first;
        auto const age = (cell_.scanned - ring_.links[i].ticket) & ticket_mask;
        if (age >= best_age) best_age = age, best = i;
      }
    return ring_ticket(best);
  }

  RONDO_HD void link(std::uint32_t ticket) noexcept {
    auto const i = index(ticket);
    std::uint32_t const level = ring_.slots[i].header.priority;
    slot_link& added = ring_.links[i];
    added.ticket = ticket;
    count_alert(level);
    priority_list& l = list(level);
    if (has(level)) {
      added.previous = l.last;
      ring_.links[l.last].next = i;
    } else {
      cell_.levels[level >> 6] |= 1ull << (level & 63);
      l.first = i;
    }
    l.last = i;
  }
  /// For a message that comes before all in the list of its priority, and was counted already (P2).
  RONDO_HD void link_first(std::uint32_t i) noexcept {
    std::uint32_t const level = ring_.slots[i].header.priority;
    priority_list& l = list(level);
    if (has(level)) {
      ring_.links[i].next = l.first;
      ring_.links[l.first].previous = i;
    } else {
      cell_.levels[level >> 6] |= 1ull << (level & 63);
      l.last = i;
    }
    l.first = i;
  }

  /// Unlinks the message whose turn it was.
  RONDO_HD void leave_list(std::uint32_t ticket) noexcept {
    cell_.overtakes = oldest() == ticket ? 0 : cell_.overtakes + 1;
    unlink(index(ticket));
  }
  RONDO_HD void unlink(std::uint32_t i) noexcept {
    std::uint32_t const level = ring_.slots[i].header.priority;
    priority_list& l = list(level);
    slot_link const gone = ring_.links[i];
    if (l.first == l.last) {
      cell_.levels[level >> 6] &= ~(1ull << (level & 63));
    } else if (l.first == i) {
      l.first = gone.next;
    } else if (l.last == i) {
      l.last = gone.previous;
    } else {
      ring_.links[gone.previous].next = gone.next;
      ring_.links[gone.next].previous = gone.previous;
    }
  }

  /// Moves the message of slot `from` into the free slot `to`, with its place in its list or in the stash.
  RONDO_HD void move(std::uint32_t from, std::uint32_t to) noexcept {
    ring_.slots[to].header = ring_.slots[from].header;
    __builtin_memcpy(ring_.slots[to].payload, ring_.slots[from].payload, max_payload_bytes);
    slot_link const moved = ring_.links[to] = ring_.links[from];
    priority_list& l = is_stashed(moved) ? ring_.stash() : list(ring_.slots[to].header.priority);
    if (l.first == from)
      l.first = to;
    else
      ring_.links[moved.previous].next = to;
    if (l.last == from)
      l.last = to;
    else
      ring_.links[moved.next].previous = to;
  }

  actor_cell& cell_;
  mail_ring_ref const& ring_;
  std::uint32_t limit_;
};

}  // namespace rondo
