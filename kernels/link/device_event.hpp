// Events that a ring kernel sends to its host: replies, and what happened to actors and messages.
#pragma once

#include "kernels/base/message.hpp"
#include "kernels/base/park.hpp"
#include "kernels/base/way_points.hpp"
#include "kernels/buffers/buffer.hpp"
#include "kernels/link/bus_ring.hpp"
#include "kernels/link/graph_player.hpp"
#include "kernels/link/host_request.hpp"
#include "kernels/mail/actor_cell.hpp"

namespace rondo {

// -- for the runtime

enum class event_kind : std::uint32_t {
  reply,        // `body` answers the ask at body.header.reply_to; `reason`: ok, or why there is no answer
  dead_letter,  // `actor` did not handle `body`, for `reason`
  returned,  // detail: returned_mail. `reason`: mailbox_full or arena_full: send `body` to `actor` again. Otherwise it
             // had come back before, and has ended for this reason
  actor_failed,   // a handler of `actor` failed with `reason`; detail: what the supervision rule did
                  // (failure_action); body.header.type: of the message; 0: it was on_start or the constructor
  threw,          // code of `actor` threw; body.payload: the beginning of the text. Its actor_failed follows
  logged,         // a handler of `actor` has logged a line: kernels/actor/log_event.hpp
  terminated,     // `actor` is gone; body.payload holds its actor_totals
  state_changed,  // `actor` is now in lifecycle state `detail`
  room,           // `actor`'s mailbox was full and has room again
  send_later,     // send `body` to `actor` after `detail` microseconds
  set_timer,     // of `actor`, with the key `behaviour`: timer_request. body.header.reply_to: who gets `body`
  cancel_timer,  // of `actor`, with the key `behaviour`
  ask_within,  // ask `actor` by `body`, and send what comes first to body.header.reply_to: the answer, or a `rejected`
               // after `detail` microseconds
  bond,           // `actor` and body.header.reply_to: detail: bond_request
  launch_child,   // launch an actor for `actor`; body.header.type: of the behaviour; payload: child_request
  end_actor,      // body.header.reply_to is to end; detail: control_bits
  restart_child,  // body.header.reply_to, a child of `actor`, is to have a fresh state
  forward,  // send `body` to `actor`, which is on another device, or had no room for a portable behaviour's message
  depths,       // answer to control_inspect: pairs of (priority, messages); detail: 1 for the last page
  buffer_free,  // slot `detail` of the device's buffers is free again: released, and no lease is left
  handled,      // a handler of `actor` has run on `body`; `reason`: ok, or why it failed; detail: when it
                // returned; behaviour: digest of what it sent. Only for traced messages, and for all
                // messages while `journal` is set
  not_handled,  // as `handled`, but `body` was not handled, for `reason`
  device_lost,  // the device faulted with `reason`. One event per team: `actor`, if valid, and
                // body.header.type say what `team` ran; detail: how many such events follow
};

/// The digest of a handler that ran for several messages at once: what it sent cannot be attributed to one of them.
inline constexpr std::uint32_t untold_digest = ~0u;

/// The detail of a `returned` event. The messages of a batch come back one after the other, with nothing for the same
/// actor between.
struct returned_mail {
  std::uint16_t epoch;  // in which it was sent
  std::uint16_t
      resent;  // 1: it had come back before, or had waited in the host; 2: likewise, and its verdict follows
  std::uint32_t count;  // of the batch that this message begins; 1: it is alone; 0: a later one of its batch
};
static_assert(sizeof(returned_mail) == sizeof(std::uint64_t));

// -- for programs

/// restarted: the actor goes on, and the message is retried. quarantined: the message is set aside. left_to_parent: the
/// actor is deactivated until its parent decides. The others: the actor is terminated.
enum class failure_action : std::uint32_t { restarted, quarantined, stopped, escalated, left_to_parent };

/// Sent to an actor whose request got no answer. List it among the actor's messages; otherwise it becomes a dead
/// letter.
struct rejected {
  errc reason;         // why
  std::uint32_t type;  // of the request
};

// -- for the runtime

struct device_event {
  event_kind kind = event_kind::reply;
  errc reason = errc::ok;
  actor_id actor{};
  std::uint64_t detail = 0;
  std::uint32_t behaviour = 0;  // of `handled`: the digest; of `logged`: log_bits
  std::uint32_t team = 0;
  message body{};
};
static_assert(sizeof(device_event) == 160 && std::is_trivially_copyable_v<device_event>);

/// Whether the host carries `e` out for an actor at some later time. A checkpoint keeps such events.
inline bool is_request(device_event const& e) noexcept {
  if (e.body.bytes > max_payload_bytes) return false;
  switch (e.kind) {
    case event_kind::send_later:
    case event_kind::set_timer:
    case event_kind::cancel_timer:
    case event_kind::ask_within:
    case event_kind::end_actor:
    case event_kind::restart_child:
      return true;
    case event_kind::bond:
      return e.detail <= static_cast<std::uint64_t>(bond_request::parent);
    case event_kind::launch_child:
      return e.body.bytes == sizeof(child_request);
    case event_kind::actor_failed:
      return e.detail == static_cast<std::uint64_t>(failure_action::left_to_parent);
    default:
      return false;
  }
}

// -- for programs

/// One page of a `depths` event.
struct depth_page {
  /// The messages of one priority.
  struct entry {
    std::uint32_t priority;  // of these messages
    std::uint32_t messages;  // how many wait
  };
  std::uint32_t count;  // of the entries
  entry entries[11];    // the highest priority first
};
static_assert(sizeof(depth_page) <= max_payload_bytes);

// -- for the runtime

/// Without the unused end of the payload.
template <>
struct bus_extent<device_event> {
  static constexpr std::uint32_t head_words = (offsetof(device_event, body) + offsetof(message, payload)) / 4;
  RONDO_HD static constexpr std::uint32_t words(device_event const& e) noexcept {
    return head_words + payload_words(e.body.bytes);
  }
};

class pack_desk;     // kernels/actor/mail_pack.hpp
struct mail_window;  // kernels/mail/mail_window.hpp

/// What teams of a `cpu` device have beside them.
struct host_side {
  graph_player* graphs = nullptr;  // for context::replay
  pack_desk* packs = nullptr;      // for mail of portable behaviours
};

/// Where a team of a GPU puts a reply together that all its lanes then write: one lane alone would take as long for
/// that as for the rest of an answer. In memory that the lanes share.
struct reply_stage {
  enum : std::uint32_t { off, empty, filled };
  device_event event;
  std::uint32_t state;
};

/// The port through which a ring kernel emits events to its host. Each device implements it in its own way.
///
/// On host threads, `emit` calls `emit_to` on the team's thread. On a GPU, `self` is the completion ring: a call
/// through a pointer would hide from the compiler how much stack a team needs. Both block while there is no room, until
/// the host takes events or abandons the ring; then the event is dropped.
struct host_port {
  void* self = nullptr;
  void (*emit_to)(void* self, device_event const&) = nullptr;
  buffer_table_ref buffers{};         // for context::buffers
  host_side const* beside = nullptr;  // only on a `cpu` device
  reply_stage* stage = nullptr;       // only of a pinned team on a GPU
  mail_window* mail = nullptr;        // of a team that takes windows of mail

  RONDO_HD graph_player* graphs() const noexcept { return beside != nullptr ? beside->graphs : nullptr; }
  RONDO_HD pack_desk* packs() const noexcept { return beside != nullptr ? beside->packs : nullptr; }

  RONDO_CALL RONDO_HD void emit(device_event const& event) const {
#if defined(__CUDA_ARCH__)
    emit_staged();  // it was first
    push(event);
#else
    if (emit_to != nullptr) emit_to(self, event);
#endif
  }

  /// Lane 0: puts a reply together by fill(event), for the lanes that wait to write it. False if none do, or one is
  /// there already.
  template <class Fill>
  RONDO_HD bool put_on_stage([[maybe_unused]] Fill const& fill) const {
#if defined(__CUDA_ARCH__)
    if (stage == nullptr || stage->state != reply_stage::empty) return false;
    fill(stage->event);
    stage->state = reply_stage::filled;
    return true;
#else
    return false;
#endif
  }
#if defined(__CUDA_ARCH__)
  /// Lane 0: whether lanes wait from now on to write a reply.
  __device__ void open_stage(bool open) const noexcept {
    if (stage != nullptr) stage->state = open ? reply_stage::empty : reply_stage::off;
  }
  /// Lane 0: whether a reply waits for the lanes.
  __device__ bool has_staged() const noexcept {
    return stage != nullptr && stage->state == reply_stage::filled;
  }
  /// Lane 0: emits it alone.
  RONDO_CALL __device__ void emit_staged() const {
    if (!has_staged()) return;
    push(stage->event);
    stage->state = reply_stage::empty;
  }
  /// All lanes of `t`, side by side. Precondition: one waits.
  __device__ void emit_staged_by_lanes(team const& t) const {
    pass(way_point::tells);
    up().push_by_lanes(t, stage->event, [] { return yield_thread(), true; });
    pass(way_point::writes);
    t.sync();  // no lane reads it any more
    if (t.leader()) stage->state = reply_stage::empty;
  }

 private:
  __device__ bus_ring_ref<device_event> const& up() const noexcept {
    return *static_cast<bus_ring_ref<device_event> const*>(self);
  }
  __device__ void push(device_event const& event) const {
    // A fence of the whole system would double the time of a reply, which says all by itself: leases publish buffers.
    auto const order = event.kind == event_kind::reply ? memory_order::relaxed : memory_order::release;
    static_cast<void>(up().push(event, order, [] { return yield_thread(), true; }));
  }
#endif
};

}  // namespace rondo
