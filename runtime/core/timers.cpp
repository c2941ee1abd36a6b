#include "runtime/core/timers.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

namespace rondo {

struct timer::state : std::enable_shared_from_this<timer::state> {
  explicit state(boost::asio::any_io_executor const& e) : clock(e) {}

  void arm() {
    clock.async_wait([s = shared_from_this()](boost::system::error_code ec) {
      if (ec || s->cancelled) return;
      s->action();
      if (s->cancelled) return;  // by the action
      s->clock.expires_at(s->clock.expiry() + s->period);
      s->arm();
    });
  }

  boost::asio::steady_timer clock;
  std::chrono::nanoseconds period{};
  std::function<void()> action;
  bool cancelled = false;
};

void timer::cancel() {
  if (!state_) return;
  auto const s = std::exchange(state_, nullptr);
  boost::asio::dispatch(s->clock.get_executor(), [s] {
    s->cancelled = true;
    s->clock.cancel();
  });
}

timer timer_service::every(std::chrono::nanoseconds period, std::function<void()> action) {
  auto s = std::make_shared<timer::state>(executor_);
  s->period = period;
  s->action = std::move(action);
  s->clock.expires_after(period);
  s->arm();
  return timer(std::move(s));
}

void timer_service::once(std::chrono::nanoseconds delay, std::function<void()> action) {
  auto clock = std::make_shared<boost::asio::steady_timer>(executor_, delay);
  clock->async_wait([clock, action = std::move(action)](boost::system::error_code ec) {
    if (!ec) action();
  });
}

}  // namespace rondo
