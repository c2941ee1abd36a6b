// The route to a device's mailboxes, which every message takes.
//
// A near route writes into the mailbox on the sender's thread, so its outcome is final. A far route submits the message
// to a device with its own memory, whose verdict comes later, as the completion of an ask.
//
// Ownership: refers to the device's arena or queue; a route must not outlive its device. Threads: any, concurrently.
#pragma once

#include "kernels/link/queue_pair.hpp"
#include "kernels/mail/scheduler.hpp"
#include "runtime/base/guest.hpp"

namespace rondo {

/// A view of messages with the same header to one actor: `count` payloads of `bytes` bytes, `stride` bytes apart.
/// Passed by reference: copying words that were just written one by one waits for the store buffer and halves the rate
/// of tells.
struct mail_view {
  actor_id to;
  message_header const& header;
  void const* payloads;
  std::uint32_t bytes;
  std::uint32_t stride = 0;  // of a batch
  std::uint32_t count = 1;
};

/// What a far route needs to know of a message beyond its mail_view.
struct far_terms {
  actor_id ack{};  // the ask that gets the mailbox's verdict (ok, mailbox_full, ...); invalid: none
  post_order how = post_order::apart;
  mail_epoch epoch{};                                // of the mailbox, when the sender looked for obstacles
  atomic<std::uint32_t> const* epoch_now = nullptr;  // null: nobody can change it

  /// To be called when the submission has its ticket (L5 of queue_pair.hpp). Acquire, by the ticket: the edge `turn`.
  bool are_late() const noexcept {
    return epoch_now != nullptr && epoch_now->load(memory_order::relaxed) != epoch.bits;
  }
};

/// The entrance to a device that shares no memory with its senders.
class far_mail {
 public:
  /// Submits all of `mail` or nothing, without waiting. Fails with device_busy if the queue to the device is full, and
  /// with mailbox_full if the epoch of `terms` is over. After ok, a refused message without an ack completes its ask,
  /// comes back (event_kind::returned), or becomes a dead letter; see L5 of queue_pair.hpp.
  virtual errc submit(mail_view const& mail, far_terms const& terms) = 0;
  /// The most messages that can be submitted at once.
  virtual std::uint32_t largest_batch() const noexcept = 0;

 protected:
  ~far_mail() = default;
};

class route {
 public:
  explicit route(arena_ref const& near) noexcept : arena_(&near) {}
  explicit route(far_mail& far) noexcept : far_(&far) {}

  /// Whether a post's outcome is final.
  bool is_near() const noexcept { return arena_ != nullptr; }

  /// Whether that many messages can be sent at once.
  bool takes(std::uint32_t count) const noexcept { return is_near() || count <= far_->largest_batch(); }

  /// Sends all of `mail` or nothing, without waiting. Errors on a near route: actor_gone, mailbox_full, arena_full; on
  /// a far route: device_busy, payload_too_large, batch_too_large, and stopped or device_lost once it is closed. On a
  /// far route, ok means that the messages are in transit, and `terms`, which a near route ignores, say what follows a
  /// refusal. With `want_room`, if the mailbox of a near route is full, the host is notified (event_kind::room) when
  /// there is room.
  errc post(mail_view const& mail, far_terms const& terms = {}, bool want_room = false) const {
    if (arena_ == nullptr) return far_->submit(mail, terms);
    if (mail.count == 1) return post_near(mail.to, mail.header, mail.payloads, mail.bytes, want_room);
    return sender().post_batch(mail.to, mail.header, static_cast<std::byte const*>(mail.payloads), mail.bytes,
                               mail.stride, mail.count, want_room);
  }

  /// As post, for one message on a near route. Writing a mail_view first would cost a tenth of a tell.
  errc post_near(actor_id to, message_header const& header, void const* payload, std::uint32_t bytes,
                 bool want_room = false) const {
    return sender().post(to, header, payload, bytes, want_room);
  }

 private:
  scheduler sender() const noexcept {
    scheduler s{*arena_};
    s.be_quiet(posts_are_quiet);
    return s;
  }

  arena_ref const* arena_ = nullptr;  // of a near route
  far_mail* far_ = nullptr;           // of a far one
};

}  // namespace rondo
