// Events of a runtime, and subscriptions to them.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "kernels/base/message.hpp"
#include "kernels/base/status.hpp"

namespace rondo {

/// A message that was not handled and has no sender waiting for an answer.
struct dead_letter {
  actor_id actor;          // the intended receiver
  std::string actor_name;  // empty if the actor is gone or has no name
  errc reason = errc::ok;  // why it was not handled
  std::string type_name;   // empty if the module does not know the message type
  message body;            // header and payload
};

/// Ends the subscription in its destructor. Does not keep the runtime alive.
class subscription {
 public:
  subscription() = default;
  /// For the runtime.
  explicit subscription(std::shared_ptr<void> handler) : handler_(std::move(handler)) {}
  subscription(subscription&&) = default;
  subscription& operator=(subscription&&) = default;

 private:
  std::shared_ptr<void> handler_;
};

}  // namespace rondo
