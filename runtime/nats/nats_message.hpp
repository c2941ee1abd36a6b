// A NATS message, and Rondo's fields in its headers.
//
//   Rondo-Type         the payload's type: its number, or its qualified name, rondo.basics.add
//   Rondo-Priority     0 to 255; if missing: default_priority
//   Rondo-Deadline-Us  microseconds after which the message is not handled, at most a day; 0 or missing: none
//
// and in a response:
//
//   Rondo-Status       0, or the number of the rondo::errc that explains why there is no reply
//   Rondo-Reason       the same in words, and what to do
//
// Threads: one at a time per object; cnats reads headers on first use.
#pragma once

#include <nats/nats.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kernels/base/message.hpp"

namespace rondo::service {

/// A NATS error. The text says what was tried, what NATS reported, and what to do.
struct nats_error : std::runtime_error {
  nats_error(natsStatus why, std::string const& text) : std::runtime_error(text), status(why) {}
  natsStatus status;
};

/// Begins the use of cnats: what is used before crashes. Idempotent; threads: any. Throws nats_error, also in a child
/// forked from a process that has used it, because it has threads of its own.
void open_nats_library();

struct nats_headers {
  std::string type;
  std::uint8_t priority = default_priority;
  std::uint64_t deadline_us = 0;
  std::optional<std::uint32_t> status = {};  // of a response
  std::string reason = {};
};

class nats_message {
 public:
  /// Takes ownership of a message made by cnats.
  explicit nats_message(natsMsg* made) noexcept : message_(made) {}
  /// A message to send. Throws nats_error if NATS cannot carry it.
  nats_message(std::string const& subject, std::span<std::byte const> payload,
               nats_headers const& headers = {}, std::string const& reply_to = {});

  std::string_view subject() const noexcept;
  /// Empty: the sender does not expect a reply.
  std::string_view reply_to() const noexcept;
  std::span<std::byte const> payload() const noexcept;
  /// Throws nats_error if one of them is malformed or out of range.
  nats_headers headers() const;

  natsMsg* get() const noexcept { return message_.get(); }

 private:
  struct destroy {
    void operator()(natsMsg* m) const noexcept { natsMsg_Destroy(m); }
  };
  std::unique_ptr<natsMsg, destroy> message_;
};

/// What NATS reports of `status`, which this thread has just received.
std::string nats_reason(natsStatus status);
/// Throws nats_error unless `status` is NATS_OK. `tried` begins the text, `advice` ends it.
void check_nats(natsStatus status, std::string_view tried, std::string_view advice);

}  // namespace rondo::service
