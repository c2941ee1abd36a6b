// The one door to the mailboxes of a device.
//
// A near route writes into the mailbox on the sender's own thread, so its outcome is the message's fate. A far route
// submits the message to a device with memory of its own, whose verdict comes later, as the completion of an ask.
//
// Ownership: refers to the device's arena or queue; a route must not outlive its device. Threads: any, at once.
#pragma once

#include "kernels/mail/scheduler.hpp"
#include "runtime/base/guest.hpp"

namespace rondo {

/// Messages of one header to one actor, as their sender holds them: `count` payloads of `bytes` bytes, `stride` bytes apart. It goes
/// by reference: a copy, of words that were just written one by one, waits for the store buffer and halves the rate of tells.
struct mail_view {
  actor_id to;
  message_header const& header;
  void const* payloads;
  std::uint32_t bytes;
  std::uint32_t stride = 0;  // of a batch
  std::uint32_t count = 1;
};

/// The way into a device that shares no memory with its senders.
class far_mail {
 public:
  /// Submits all of `mail` or nothing, without waiting: device_busy when there is no room on the way. On ok, `ack`, if valid,
  /// is an ask that ends with the mailbox's verdict (ok, mailbox_full, actor_gone, ...); without it a refused message
  /// becomes a dead letter.
  virtual errc submit(mail_view const& mail, actor_id ack) = 0;

 protected:
  ~far_mail() = default;
};

class route {
 public:
  explicit route(arena_ref const& near) noexcept : arena_(&near) {}
  explicit route(far_mail& far) noexcept : far_(&far) {}

  /// Whether a post's outcome is the message's fate.
  bool is_near() const noexcept { return arena_ != nullptr; }

  /// Sends all of `mail` or nothing, without waiting; on a far route ok means that it is on its way. Errors: actor_gone,
  /// mailbox_full, arena_full; of a far route device_busy and payload_too_large, the others being its verdict. `ack` is as in
  /// far_mail, and ignored on a near route. With `want_room` a full mailbox on a near route has the host told
  /// (record_kind::room) when there is room.
  errc post(mail_view const& mail, actor_id ack = {}, bool want_room = false) const {
    if (arena_ == nullptr) return far_->submit(mail, ack);
    scheduler sender{*arena_};
    sender.quiet = posts_are_quiet;
    if (mail.count == 1) return sender.post(mail.to, mail.header, mail.payloads, mail.bytes, want_room);
    return sender.post_batch(mail.to, mail.header, static_cast<std::byte const*>(mail.payloads), mail.bytes,
                             mail.stride, mail.count, want_room);
  }

 private:
  arena_ref const* arena_ = nullptr;  // of a near route
  far_mail* far_ = nullptr;           // of a far one
};

}  // namespace rondo
