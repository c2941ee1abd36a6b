// Things that happen later, or again and again, on the runtime's own thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
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
  void cancel() {
    if (!state_) return;
    auto const s = std::exchange(state_, nullptr);
    boost::asio::post(s->clock.get_executor(), [s] {
      s->cancelled = true;
      s->clock.cancel();
    });
  }

 private:
  friend class timer_service;
  struct state {
    explicit state(boost::asio::any_io_executor const& e) : clock(e) {}
    boost::asio::steady_timer clock;
    std::chrono::nanoseconds period{};
    std::function<void()> action;
    bool cancelled = false;
  };
  explicit timer(std::shared_ptr<state> s) : state_(std::move(s)) {}
  std::shared_ptr<state> state_;
};

/// Threads: any.
class timer_service {
 public:
  explicit timer_service(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  /// Calls `action` every `period`, first after one period. Does not drift: each time is a multiple of the
  /// first.
  timer every(std::chrono::nanoseconds period, std::function<void()> action) {
    auto s = std::make_shared<timer::state>(executor_);
    s->period = period;
    s->action = std::move(action);
    s->clock.expires_after(period);
    arm(s);
    return timer(s);
  }

  void once(std::chrono::nanoseconds delay, std::function<void()> action) {
    auto clock = std::make_shared<boost::asio::steady_timer>(executor_, delay);
    clock->async_wait([clock, action = std::move(action)](boost::system::error_code ec) {
      if (!ec) action();
    });
  }

 private:
  static void arm(std::shared_ptr<timer::state> const& s) {
    s->clock.async_wait([s](boost::system::error_code ec) {
      if (ec || s->cancelled) return;
      s->action();
      s->clock.expires_at(s->clock.expiry() + s->period);
      arm(s);
    });
  }

  boost::asio::any_io_executor executor_;
};

}  // namespace rondo
