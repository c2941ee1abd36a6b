// The digest of what a handler sends: a replay compares it with the one that the recording holds.
#pragma once

#include "kernels/mail/arena.hpp"

namespace rondo {

/// A base of `context`. It hashes only while the journal is on or the message is traced.
class sent_digest {
 public:
  /// A hash of everything sent so far, in order, while the journal is on; otherwise 0.
  RONDO_HD std::uint32_t digest() const noexcept { return digest_; }

 protected:
  RONDO_HD explicit sent_digest(std::uint32_t journal) noexcept : journal_(journal) {}

  RONDO_HD bool is_mute() const noexcept { return (journal_ & journal_mute) != 0; }
  RONDO_HD void note_nothing() noexcept { digest_ = 0; }
  RONDO_HD void note_word(std::uint32_t word) noexcept { digest_ = (digest_ ^ word) * 16777619u; }
  RONDO_CALL RONDO_HD void note_sent(actor_id to, message_header const& h, errc outcome) noexcept {
    // The ids of host asks differ from run to run.
    if ((to.index & host_ask_bit) == 0) note_word(to.index), note_word(to.generation);
    note_word(h.type);
    note_word(h.correlation);
    note_word(h.priority | static_cast<std::uint32_t>(outcome) << 8);
  }
  /// Skips types with padding or floating-point numbers, where equal messages may differ as bytes.
  template <class Message>
  RONDO_HD void note_payload(Message const& m) noexcept {
    if constexpr (std::has_unique_object_representations_v<Message>) {
      if (journal_ != 0) [[unlikely]]
        note_bytes(&m, sizeof m);
    }
  }
  RONDO_CALL RONDO_HD void note_bytes(void const* bytes, std::uint32_t count) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) note_word(static_cast<unsigned char const*>(bytes)[i]);
  }

  std::uint32_t const journal_;  // journal_bits

 private:
  std::uint32_t digest_ = 0;
};

}  // namespace rondo
