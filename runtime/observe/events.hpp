// Events of a runtime, and subscriptions to them.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "kernels/base/message.hpp"
#include "kernels/base/status.hpp"

namespace rondo {

/// A message that was not handled and has no sender waiting for an answer.
struct dead_letter {
  actor_id actor;          // the intended receiver
  std::string actor_name;  // empty if the actor is gone or has no name
  errc reason = errc::ok;
  std::string type_name;  // empty if the module does not know the message type
  message body;
};

/// Ends the subscription in its destructor. Does not keep the runtime alive.
class subscription {
 public:
  subscription() = default;
  explicit subscription(std::function<void()> end) : end_(std::move(end)) {}
  subscription(subscription&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  subscription& operator=(subscription&& other) noexcept {
    std::swap(end_, other.end_);
    return *this;
  }
  ~subscription() {
    if (end_) end_();
  }

 private:
  std::function<void()> end_;
};

}  // namespace rondo
