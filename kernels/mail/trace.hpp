// The tag of a traced message, which travels after its payload.
//
// A message from outside gets a tag. Every message that its handler sends gets a tag of the same trace, and so on,
// across devices too. When a traced message completes, its actor's owner notifies the host (event_kind::handled,
// not_handled), which keeps the hops: runtime/messaging/trace_log.hpp. An untraced message costs one check of its
// flags.
// Threads: a tag belongs to its message: to the sender until the commit, then to the owner.
#pragma once

#include "kernels/base/clock.hpp"
#include "kernels/mail/mail_ring.hpp"

namespace rondo {

struct trace_tag {
  std::uint64_t trace = 0;     // shared by everything that one message from outside causes; never 0
  std::uint32_t hop = 0;       // this message; unique in its trace
  std::uint32_t parent = 0;    // the hop whose handler sent it
  std::uint64_t begun_ns = 0;  // when its handler began; 0: not yet
};

/// A larger payload leaves no room for a tag: neither the message nor what its handler sends is traced.
inline constexpr std::uint32_t max_traced_bytes = max_payload_bytes - sizeof(trace_tag);

/// The tag at the end of a payload of max_payload_bytes. Precondition: its message has flag_traced.
RONDO_HD inline trace_tag tag_behind(std::byte const* payload) noexcept {
  trace_tag tag;
  __builtin_memcpy(&tag, payload + max_traced_bytes, sizeof tag);
  return tag;
}
RONDO_HD inline void put_tag(std::byte* payload, trace_tag const& tag) noexcept {
  __builtin_memcpy(payload + max_traced_bytes, &tag, sizeof tag);
}

/// The slot that contains a header. Precondition: the header is in a mail ring.
RONDO_HD inline message_slot const& slot_around(message_header const& header) noexcept {
  return *reinterpret_cast<message_slot const*>(reinterpret_cast<std::byte const*>(&header) -
                                                offsetof(message_slot, header));
}

/// The hop of the `n`-th message that the handler of `parent` sends; deterministic.
RONDO_HD constexpr std::uint32_t next_hop(std::uint32_t parent, std::uint32_t n) noexcept {
  // The finalizer of MurmurHash3, a bijection: siblings differ, and other hops of one trace rarely collide.
  std::uint32_t x = parent + n * 0x9e37'79b9u;
  x = (x ^ x >> 16) * 0x85eb'ca6bu;
  x = (x ^ x >> 13) * 0xc2b2'ae35u;
  x ^= x >> 16;
  return x != 0 ? x : 1;
}

/// Gives `m` this tag, and stamps it if it was not. Precondition: m.bytes <= max_traced_bytes.
RONDO_HD inline void add_tag(message& m, trace_tag const& tag) noexcept {
  m.header.flags |= flag_traced;
  if (!m.header.stamped()) m.header.stamp(now_ns());
  m.bytes = max_payload_bytes;
  put_tag(m.payload, tag);
}
/// A message of `header` and `payload` with this tag. Precondition: bytes <= max_traced_bytes.
RONDO_HD inline message tagged(message_header const& header, void const* payload, std::uint32_t bytes,
                               trace_tag const& tag) noexcept {
  message m;
  m.header = header;
  copy_words(m.payload, payload, bytes);
  add_tag(m, tag);
  return m;
}

}  // namespace rondo
