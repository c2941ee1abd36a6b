// The hub delivers events (dead letters, failure reports) to subscribers, on the runtime's own thread, in order.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/observe/events.hpp"

namespace rondo {

/// Threads: any. After a subscription has ended, its handler is not called again; a call that is running at that
/// moment continues.
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
