#include "runtime/core/timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <stdexcept>
#include <utility>

#include "runtime/os/handler_memory.hpp"
#include "runtime/os/made_here.hpp"

namespace rondo {

namespace {

/// Owned by its timer. A due action that finds it gone is not called.
struct repetition : std::enable_shared_from_this<repetition> {
  repetition(boost::asio::any_io_executor const& executor, std::chrono::nanoseconds every,
             std::function<bool()> what)
      : clock(executor, every), period(every), action(std::move(what)) {}

  void arm() {
    // The handler keeps its memory: it may be called, to no effect, when the repetition is gone.
    auto const wait = [weak = weak_from_this(), kept = memory](boost::system::error_code ec) {
      auto const self = weak.lock();
      if (ec || !self || !self->action()) return;
      self->clock.expires_at(next_due(self->clock.expiry(), self->period, std::chrono::steady_clock::now()));
      self->arm();
    };
    clock.async_wait(boost::asio::bind_allocator(handler_allocator<void>(*memory), wait));
  }

  boost::asio::steady_timer clock;
  std::chrono::nanoseconds period;
  std::function<bool()> action;
  std::shared_ptr<handler_memory> memory =
      std::make_shared<handler_memory>();  // so that no repetition allocates
};

}  // namespace

timer::timer(boost::asio::any_io_executor const& executor, std::chrono::nanoseconds period,
             std::function<bool()> action) {
  if (period < shortest_period)
    throw std::invalid_argument(fmt::format("a period is {} ns; the shortest one is {} ns", period.count(),
                                            std::chrono::nanoseconds(shortest_period).count()));
  period = std::min(period, longest_period);
  // The system's clock behind it is shared with forked children.
  auto const r =
      std::shared_ptr<repetition>(new repetition(executor, period, std::move(action)), delete_where_made{});
  r->arm();
  repetition_ = r;
}

}  // namespace rondo
