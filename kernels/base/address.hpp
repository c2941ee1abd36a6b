// Addresses of a handler's messages, options of a send, and tokens for answers that come later.
#pragma once

#include "kernels/base/message.hpp"

namespace rondo {

/// The address of an actor of a known behaviour; may travel in messages.
template <class Behaviour>
struct address {
  actor_id id{};  // which actor
};

/// Stands for any behaviour that takes these messages. There is no actor of it.
template <class... Entries>
struct any_that_takes {
  /// The messages that it takes.
  using messages = rondo::messages<Entries...>;
};

/// How a handler sends a message.
struct send_options {
  std::uint8_t priority = default_priority;  // 255 is handled first
  std::uint64_t deadline_us = 0;             // after which it is not handled; at most a day; 0: none
};

/// The destination of a deferred answer; see context::defer.
struct reply_token {
  actor_id to{};                  // who asked
  std::uint32_t correlation = 0;  // of the request
  std::uint32_t reply_type = 0;   // the type id that the message declares for its reply; 0: none
};

}  // namespace rondo
