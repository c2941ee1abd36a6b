// Events for subscribers: dead letters, failure reports. Delivered on the runtime's own thread, in order.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "kernels/atomic.hpp"
#include "kernels/message.hpp"
#include "runtime/errc.hpp"

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

/// Threads: any. After a subscription has ended, its handler is not called any more, unless it runs at that
/// moment.
template <class Event>
class hub {
 public:
  explicit hub(boost::asio::any_io_executor executor)
      : executor_(std::move(executor)), state_(std::make_shared<state>()) {}

  subscription subscribe(std::function<void(Event const&)> handler) {
    std::lock_guard lock(state_->mutex);
    auto const key = state_->next++;
    state_->handlers.emplace(key, std::make_shared<std::function<void(Event const&)>>(std::move(handler)));
    return subscription([state = std::weak_ptr(state_), key] {
      if (auto const s = state.lock()) {
        std::lock_guard guard(s->mutex);
        s->handlers.erase(key);
      }
    });
  }

  bool has_subscribers() const {
    std::lock_guard lock(state_->mutex);
    return !state_->handlers.empty();
  }

  void publish(Event event) {
    boost::asio::post(executor_, [state = state_, event = std::move(event)] {
      std::unique_lock lock(state->mutex);
      auto const handlers = state->handlers;  // a handler may end its own subscription
      lock.unlock();
      for (auto const& [key, handler] : handlers) (*handler)(event);
    });
  }

 private:
  struct state {
    std::mutex mutex;
    std::uint64_t next = 0;
    std::map<std::uint64_t, std::shared_ptr<std::function<void(Event const&)>>> handlers;
  };
  boost::asio::any_io_executor executor_;
  std::shared_ptr<state> state_;
};

}  // namespace rondo
