// Both ends of a mailbox, compiled with kernels/base/atomic.hpp and with bare_atomic.hpp. The machine code must be as
// good, so the header, which allows a checker to replace the atomics, costs nothing.
#include "kernels/mail/scheduler.hpp"

namespace rondo {

errc send(scheduler& from, actor_id to, message_header const& header, void const* payload) {
  return from.post(to, header, payload, 16);
}

bool receive(arena_ref const& arena, actor_cell& cell, mail_ring_ref const& ring, void* payload) {
  priority_lists_ref lists{arena, cell, ring};
  std::uint32_t ticket = 0;
  if (lists.pick(ticket) != 1) return false;
  __builtin_memcpy(payload, ring.slot(ticket).payload, 16);
  lists.take(ticket);
  return true;
}

void let_go(scheduler& team, std::uint32_t index, actor_totals& totals) { team.release(index, totals); }

}  // namespace rondo
