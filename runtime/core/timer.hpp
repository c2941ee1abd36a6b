// The handle of a repeated message, returned by runtime::every.
#pragma once

#include <memory>
#include <utility>

namespace rondo {

/// A repetition, which ends when this is destroyed. Must not outlive the runtime.
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

  /// Ends the repetition. If called on the runtime's thread, no action begins after this returns; on another thread, one may
  /// still be running.
  void cancel();

 private:
  friend class timer_service;
  struct state;
  explicit timer(std::shared_ptr<state> s) : state_(std::move(s)) {}
  std::shared_ptr<state> state_;
};

}  // namespace rondo
