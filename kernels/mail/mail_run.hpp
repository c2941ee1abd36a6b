// A run: messages of one batch that lie in the mailbox as one stream of bytes, under one header.
//
// A run has a ticket and a slot for each of its messages, so order, room and counts are as if these had come singly.
// But only its first slot gets a header, and the payloads follow each other without gaps through as many slots as they
// need: 64 messages of 64 bytes are 67 cache lines, not 128, and 64 of 8 bytes are 11, not 64. The sequences stay where
// they are: only the first one changes, to the length of the run (R2), and the stream leaves the others out. The owner
// copies the payloads out and handles them from the copy. Before anything else may happen to a message (another one
// comes first, it failed, it is stashed or saved), the owner *unpacks* it: it gets a header, and is committed in its
// own slot.
//
// The messages of a run have the default priority, no deadline, no asker and no tag; the first one's latency may be
// sampled.
//
// Threads: `fill`: the sender, between reserve and commit. The others: the actor's owner (W2), or whoever reads a
// stopped arena.
#pragma once

#include "kernels/mail/mail_ring.hpp"

namespace rondo {

inline constexpr std::uint32_t longest_run = 64;  // messages

/// The payloads of a run, outside the mailbox.
struct run_payloads {
  alignas(64) std::byte bytes[longest_run * max_payload_bytes];  // without gaps
};

class mail_run {
 public:
  /// A run to be written: `count` messages of `bytes` each, from the slot of `ticket` on. `header`: of the first.
  RONDO_HD mail_run(mail_ring_ref const& ring, std::uint32_t ticket, std::uint32_t count, std::uint32_t bytes,
                    message_header const& header) noexcept
      : ring_(ring), ticket_(ticket), count_(count), bytes_(bytes), header_(header) {}
  /// One that is committed.
  RONDO_HD mail_run(mail_ring_ref const& ring, std::uint32_t ticket, std::uint32_t count) noexcept
      : ring_(ring), ticket_(ticket), count_(count), header_(ring.slot(ticket).header) {
    bytes_ = header_.deadline;  // see `fill`
    header_.deadline = 0;
  }

  /// How many messages with this header a run may have; 1: they go singly. A run is handled within one turn, of `quota`
  /// messages.
  RONDO_HD static std::uint32_t longest(mail_ring_ref const& ring, message_header const& header,
                                        std::uint32_t quota) noexcept {
    bool const plain = header.priority == default_priority && header.deadline == 0 && header.flags == 0;
    if (!sends_runs || !plain) return 1;
    auto const most = quota < longest_run ? quota : longest_run;
    return most < ring.slot_count ? most : ring.slot_count - 1;  // R2
  }

  /// Of each payload.
  RONDO_HD std::uint32_t bytes() const noexcept { return bytes_; }
  /// Of message `i`.
  RONDO_HD message_header header(std::uint32_t i) const noexcept {
    auto h = header_;
    if (i != 0) h.flags = 0;
    return h;
  }

  /// Writes and commits it. `payloads`: all of them, without gaps.
  RONDO_HD void fill(std::byte const* payloads) const noexcept {
    for_each_piece([payloads](std::byte* in_slot, std::uint32_t at, std::uint32_t size) {
      __builtin_memcpy(in_slot, payloads + at, size);
    });
    message_slot& first = ring_.slot(ticket_);
    first.header = header_;
    first.header.deadline = bytes_;  // a field that has no other use here
    ring_.commit(ticket_, count_);
  }
  /// Copies its payloads. The slots stay as they are.
  RONDO_HD void copy_to(run_payloads& copy) const noexcept {
    for_each_piece([&copy](std::byte const* in_slot, std::uint32_t at, std::uint32_t size) {
      __builtin_memcpy(copy.bytes + at, in_slot, size);
    });
  }

  /// Gives each message from number `first` on its own slot. The slots of those before it may have been given back.
  RONDO_COLD RONDO_HD void unpack(std::uint32_t first, run_payloads const& copy) const noexcept {
    for (auto i = first; i < count_; ++i) {
      message_slot& slot = ring_.slot(ticket_ + i);
      slot.header = header(i);
      __builtin_memcpy(slot.payload, copy.bytes + i * bytes_, bytes_);
      ring_.commit(ticket_ + i);
    }
  }
  /// Gives every message its own slot.
  RONDO_COLD RONDO_HD void unpack() const noexcept {
    run_payloads copy;
    copy_to(copy);
    unpack(0, copy);
  }

 private:
  static constexpr auto first_piece = static_cast<std::uint32_t>(max_payload_bytes);
  static constexpr auto piece = static_cast<std::uint32_t>(sizeof(message_slot) - sizeof(std::uint32_t));

  /// Calls f(bytes in a slot, where they belong among the payloads, how many they are) for each slot that the payloads
  /// take. Their size is a constant except in the last one.
  template <class F>
  RONDO_HOT RONDO_HD void for_each_piece(F const& f) const noexcept {
    auto const total = count_ * bytes_;
    if (total <= first_piece) return f(ring_.slot(ticket_).payload, 0, total);
    f(ring_.slot(ticket_).payload, 0, first_piece);
    auto at = first_piece;
    auto ticket = ticket_ + 1;
    for (; at + piece <= total; at += piece) f(behind_sequence(ticket++), at, piece);
    if (at != total) f(behind_sequence(ticket), at, total - at);
  }
  RONDO_HOT RONDO_HD std::byte* behind_sequence(std::uint32_t ticket) const noexcept {
    return reinterpret_cast<std::byte*>(&ring_.slot(ticket)) + sizeof(std::uint32_t);
  }

  mail_ring_ref ring_;
  std::uint32_t ticket_, count_, bytes_;
  message_header header_;
};

}  // namespace rondo
