// Records from a ring kernel to its host: replies, and what happened to actors and messages.
#pragma once

#include "kernels/base/message.hpp"
#include "kernels/base/park.hpp"
#include "kernels/buffers/buffer.hpp"
#include "kernels/link/bus_ring.hpp"
#include "kernels/link/graph_player.hpp"
#include "kernels/mail/actor_cell.hpp"

namespace rondo {

enum class record_kind : std::uint32_t {
  reply,          // `body` answers the ask at body.header.reply_to; `reason` is ok or why there is no answer
  dead_letter,    // `body` ended at `actor` without being handled, for `reason`
  actor_failed,   // a handler of `actor` failed for `reason`; detail: what the supervision rule did
                  // (failure_action); body.header.type: of the message; 0: it was the actor's start
  terminated,     // `actor` is gone; body.payload holds its actor_totals
  state_changed,  // `actor` is now in lifecycle state `detail`
  room,           // `actor`, once full, has room again
  send_later,     // send `body` to `actor` after `detail` microseconds
  forward,        // send `body` to `actor`, which lives on another device
  depths,         // answer to control_inspect: pairs of (priority, messages); detail: 1 for the last page
  buffer_free,    // slot `detail` of the device's buffers is free again: released, and no lease is left
  handled,  // a handler of `actor` has run on `body`, and failed for `reason` if that is not ok; detail: when it
            // ended; digest: of what it sent. Only of traced messages, and of all while `journal` is set
  not_handled,  // `body` ended at `actor` for `reason` instead; else as handled
  device_lost,  // the device faulted for `reason`. One record per team: `actor`, if valid, and
                // body.header.type say what `team` ran; detail: how many such records follow
};

/// The digest of a handler that ran for several messages at once: what it sent is not told apart.
inline constexpr std::uint32_t untold_digest = ~0u;

/// The message was put back for another try after a restart; set aside; or the actor ended.
enum class failure_action : std::uint32_t { restarted, quarantined, stopped, escalated };

/// Sent to an actor whose request got no answer; it must list this type among its messages to see it.
struct rejected {
  errc reason;
  std::uint32_t type;  // of the request
};

struct host_record {
  record_kind kind = record_kind::reply;
  errc reason = errc::ok;
  actor_id actor{};
  std::uint64_t detail = 0;
  std::uint32_t behaviour = 0;  // of `handled`: the digest
  std::uint32_t team = 0;
  message body{};
};
static_assert(sizeof(host_record) == 160 && std::is_trivially_copyable_v<host_record>);

/// One page of a `depths` record.
struct depth_page {
  struct entry {
    std::uint32_t priority, messages;
  };
  std::uint32_t count;
  entry entries[11];
};
static_assert(sizeof(depth_page) <= max_payload_bytes);

/// Puts a record, without the unused end of its payload, into the way up of a queue pair; false while there is no room.
template <class Bus>
RONDO_HD bool try_push_record(bus_ring_ref<host_record, Bus> const& up, host_record const& record) {
  std::uint64_t ticket = 0;
  auto const fill = [&](std::uint32_t, host_record& to) {
    __builtin_memcpy(static_cast<void*>(&to), &record,
                     offsetof(host_record, body) + offsetof(message, payload));
    copy_payload(to.body.payload, record.body.payload, record.body.bytes);
  };
  return up.try_push(1, fill, ticket) == push_outcome::pushed;
}

/// The way from a ring kernel to its host. The device decides what is behind it.
///
/// On host threads `emit` is a plain function that runs on the team's thread. On a GPU `self` is the way up itself: a call
/// through a pointer would hide from the compiler how much stack a team needs. Either waits for the host to take records
/// when there is no room for more.
struct host_port {
  void* self = nullptr;
  void (*emit_to)(void* self, host_record const&) = nullptr;
  buffer_table_ref buffers{};      // of the host's places, for context::buffers
  graph_player* graphs = nullptr;  // for context::replay; of a device `cpu` alone

  RONDO_CALL RONDO_HD void emit(host_record const& record) const {
#if defined(__CUDA_ARCH__)
    while (!try_push_record(*static_cast<bus_ring_ref<host_record> const*>(self), record)) yield_thread();
#else
    if (emit_to != nullptr) emit_to(self, record);
#endif
  }
};

}  // namespace rondo
