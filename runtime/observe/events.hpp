// Events of a runtime, and subscriptions to them.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "kernels/base/message.hpp"
#include "kernels/base/status.hpp"

namespace rondo {

/// A message that was not handled and whose sender does not wait for an answer.
struct dead_letter {
  actor_id actor;          // it was meant for
  std::string actor_name;  // empty when the actor is gone or has none
  errc reason = errc::ok;
  std::string type_name;  // empty when the module has no such message
  message body;
};

/// Ends its subscription when it goes. Keeps nothing else alive.
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
