// The hub delivers events (dead letters, failure reports, log lines) to subscribers, on the runtime's own thread, in
// order.
#pragma once

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/base/exceptions.hpp"
#include "runtime/observe/events.hpp"

namespace rondo {

/// An exception of a handler does not keep the others from being called.
/// Threads: any. After a subscription has ended, its handler is not called again. If another thread ends it while its
/// handler runs, the call continues, and destroys the handler when it returns.
template <class Event>
class hub {
 public:
  /// `on_throw` gets the text of each exception of a handler, on the thread that calls handlers.
  hub(boost::asio::any_io_executor executor, std::function<void(char const*)> on_throw)
      : executor_(std::move(executor)), state_(std::make_shared<state>()) {
    state_->on_throw = std::move(on_throw);
  }

  subscription subscribe(std::function<void(Event const&)> f) {
    auto h = std::make_shared<handler>(std::move(f));
    std::lock_guard lock(state_->mutex);
    auto& all = state_->handlers;
    if (all.size() >= state_->purge_at) {
      std::erase_if(all, [](auto const& one) { return one.expired(); });
      state_->purge_at = std::max<std::size_t>(16, 2 * all.size());
    }
    all.push_back(h);
    return subscription(std::move(h));
  }

  bool has_subscribers() const {
    std::lock_guard lock(state_->mutex);
    auto& all = state_->handlers;
    all.erase(all.begin(), std::ranges::find_if(all, [](auto const& one) { return !one.expired(); }));
    return !all.empty();
  }

  void publish(Event event) {
    boost::asio::post(executor_, [state = state_, event = std::move(event)] { state->deliver(event); });
  }
  /// Calls the handlers at once. False if there is none. Only on the executor.
  bool deliver(Event const& event) const { return state_->deliver(event); }

 private:
  using handler = std::function<void(Event const&)>;
  struct state {
    std::function<void(char const*)> on_throw;
    std::mutex mutex;                              // guards the members below
    std::vector<std::weak_ptr<handler>> handlers;  // in the order of subscribing; the subscriptions own them
    std::size_t purge_at = 16;                     // of them; then those that have ended are removed

    bool deliver(Event const& event) {
      std::unique_lock lock(mutex);
      std::erase_if(handlers, [](auto const& one) { return one.expired(); });
      auto const now = handlers;  // a handler may subscribe
      lock.unlock();
      bool any = false;
      for (auto const& one : now)
        if (auto const h = one.lock()) any = true, call_caught([&] { (*h)(event); }, on_throw);
      return any;
    }
  };
  boost::asio::any_io_executor executor_;
  std::shared_ptr<state> state_;
};

}  // namespace rondo
