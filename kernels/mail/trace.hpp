// The tag of a traced message, which travels behind its payload.
//
// A message from outside gets a tag, and whatever its handler sends gets one of the same trace, and so on, over devices too.
// When such a message has ended, its actor's owner tells the host (record_kind::handled, not_handled), which keeps the hops:
// runtime/messaging/trace_log.hpp. Untraced messages pay for one look at their flags.
// Threads: a tag is its message's: the sender's until it is committed, then the owner's.
#pragma once

#include "kernels/base/clock.hpp"
#include "kernels/mail/mail_ring.hpp"

namespace rondo {

struct trace_tag {
  std::uint64_t trace = 0;     // of everything that one message from outside has led to; never 0
  std::uint32_t hop = 0;       // of this message; differs from all others of its trace
  std::uint32_t parent = 0;    // the hop whose handler sent it
  std::uint64_t begun_ns = 0;  // when its handler began; 0: it has not
};

/// A message with a larger payload has no room for a tag: it leaves no trace, and what its handler sends does not either.
inline constexpr std::uint32_t max_traced_bytes = max_payload_bytes - sizeof(trace_tag);

/// Where the tag of a payload of max_payload_bytes stands. Precondition: its message has flag_traced.
RONDO_HD inline trace_tag tag_behind(std::byte const* payload) noexcept {
  trace_tag tag;
  __builtin_memcpy(&tag, payload + max_traced_bytes, sizeof tag);
  return tag;
}
RONDO_HD inline void put_tag(std::byte* payload, trace_tag const& tag) noexcept {
  __builtin_memcpy(payload + max_traced_bytes, &tag, sizeof tag);
}

/// The message of a header that stands in a mail ring.
RONDO_HD inline message_slot const& slot_around(message_header const& header) noexcept {
  return *reinterpret_cast<message_slot const*>(reinterpret_cast<std::byte const*>(&header) -
                                                offsetof(message_slot, header));
}

/// The hop of the `n`-th message that the handler of `parent` sends: the same each time.
RONDO_HD constexpr std::uint32_t next_hop(std::uint32_t parent, std::uint32_t n) noexcept {
  // The finalizer of MurmurHash3, a bijection: siblings differ, and of the rest few hops of one trace can meet.
  std::uint32_t x = parent + n * 0x9e37'79b9u;
  x = (x ^ x >> 16) * 0x85eb'ca6bu;
  x = (x ^ x >> 13) * 0xc2b2'ae35u;
  x ^= x >> 16;
  return x != 0 ? x : 1;
}

/// `header` and `payload` as a message with this tag, and a time of sending. Precondition: bytes <= max_traced_bytes.
RONDO_HD inline message tagged(message_header const& header, void const* payload, std::uint32_t bytes,
                               trace_tag const& tag) noexcept {
  message m;
  m.header = header;
  m.header.flags |= flag_traced;
  if (!m.header.stamped()) m.header.stamp(now_ns());
  m.bytes = max_payload_bytes;
  copy_payload(m.payload, payload, bytes);
  put_tag(m.payload, tag);
  return m;
}

}  // namespace rondo
