// A repeated message: what runtime::every returns.
#pragma once

#include <memory>
#include <utility>

namespace rondo {

/// A repetition; ends when this goes. Must not outlive the runtime.
class timer {
 public:
  timer() = default;
  timer(timer&&) noexcept = default;
  timer& operator=(timer&& other) noexcept {
    cancel();
    state_ = std::move(other.state_);
    return *this;
  }
  ~timer() { cancel(); }

  /// No call begins after this one has returned on the runtime's thread; elsewhere one may just be under way.
  void cancel();

 private:
  friend class timer_service;
  struct state;
  explicit timer(std::shared_ptr<state> s) : state_(std::move(s)) {}
  std::shared_ptr<state> state_;
};

}  // namespace rondo
