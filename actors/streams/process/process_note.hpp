// The note of an announcement: what it says of its frame, beside the number.
#pragma once

#include <cstring>

#include "kernels/streams/frame.hpp"
#include "runtime/sharing/share_packets.hpp"

namespace rondo::streams {

struct process_note {
  std::uint64_t time_ns, type;
  frame_origin origin;
  std::byte about[max_about_bytes];
};
static_assert(sizeof(process_note) == sizeof(announcement_note) &&
              std::is_trivially_copyable_v<process_note>);

inline announcement_note note_of(process_note const& n) noexcept {
  announcement_note bytes;
  std::memcpy(bytes.data(), &n, sizeof n);
  return bytes;
}
inline process_note note_from(announcement_note const& bytes) noexcept {
  process_note n;
  std::memcpy(&n, bytes.data(), sizeof n);
  return n;
}

}  // namespace rondo::streams
