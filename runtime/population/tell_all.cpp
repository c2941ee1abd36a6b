#include "runtime/population/tell_all.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <memory>

#include "runtime/messaging/deliver.hpp"

namespace rondo {

namespace {

using boost::asio::any_io_executor;

/// Threads: the strand alone.
class telling : public std::enable_shared_from_this<telling> {
 public:
  using handler_type = boost::asio::any_completion_handler<void(detail::told_outcome)>;

  telling(any_io_executor executor, std::size_t count, std::function<detail::recipient(std::size_t)> at,
          message const& m, handler_type handler)
      : executor_(std::move(executor)),
        count_(count),
        at_(std::move(at)),
        message_(m),
        handler_(std::move(handler)) {}

  void ask_for_turn() {
    if (std::exchange(is_due_, true)) return;
    boost::asio::post(strand_, [self = shared_from_this()] {
      self->is_due_ = false;
      self->go_on();
    });
  }

 private:
  static constexpr std::size_t most_waiting = 64;  // copies
  static constexpr std::size_t at_once = 1024;     // sent before other completions have their turn

  void go_on() {
    for (std::size_t sent = 0; has_more() && !pausing_ && waiting_ < most_waiting; ++sent) {
      if (message_.header.expired(now_ns())) {
        reason_ = errc::timed_out;
      } else if (sent == at_once) {
        return ask_for_turn();
      } else if (again_.empty()) {
        send(next_++);
      } else {
        auto const i = again_.back();
        again_.pop_back();
        send(i);
      }
    }
    if (has_more() || waiting_ != 0 || pausing_) return;  // each of them asks for a turn when it is over
    deliver_later(executor_, std::move(handler_), detail::told_outcome{reason_, told_});
  }
  bool has_more() const { return !reason_ && (next_ < count_ || !again_.empty()); }

  void send(std::size_t i) {
    auto const [mail, id] = at_(i);
    if (!mail->is_near()) return await_outcome(i, false);
    take(i, mail->try_post(id, message_.header, message_.payload, message_.bytes));
  }
  void await_outcome(std::size_t i, bool wait_for_room) {
    auto const [mail, id] = at_(i);
    ++waiting_;
    mail->post({id, message_}, wait_for_room, 0,
               boost::asio::bind_executor(strand_, [self = shared_from_this(), i](answer const& a) {
                 --self->waiting_;
                 self->take(i, a.reason);
                 self->ask_for_turn();
               }));
  }
  void take(std::size_t i, errc outcome) {
    switch (outcome) {
      case errc::ok:
        ++told_.accepted;
        return;
      case errc::actor_gone:
        ++told_.gone;
        return;
      case errc::mailbox_full:
        return await_outcome(i, true);
      case errc::arena_full:   // until some other actor gives a mail block back
      case errc::device_busy:  // until the queue has moved on
      case errc::ask_limit:
        again_.push_back(i);
        return pause();
      default:
        reason_ = outcome;
    }
  }
  void pause() {
    if (std::exchange(pausing_, true)) return;
    timer_.expires_after(std::chrono::microseconds(50));
    timer_.async_wait([self = shared_from_this()](error_code) {
      self->pausing_ = false;
      self->ask_for_turn();
    });
  }

  any_io_executor executor_;
  boost::asio::strand<any_io_executor> strand_{executor_};
  boost::asio::steady_timer timer_{strand_};
  std::size_t count_;
  std::function<detail::recipient(std::size_t)> at_;
  message message_;
  handler_type handler_;
  std::size_t next_ = 0;            // the first actor that it was not sent to
  std::vector<std::size_t> again_;  // those before it that it is to be sent to again
  std::size_t waiting_ = 0;         // copies whose outcome is awaited
  bool pausing_ = false;            // until the timer's turn
  bool is_due_ = false;             // a turn is asked for
  error_code reason_;
  told told_;
};

}  // namespace

void detail::tell_all(runtime& rt, std::size_t count, std::function<recipient(std::size_t)> at,
                      message const& m, boost::asio::any_completion_handler<void(told_outcome)> handler) {
  std::make_shared<telling>(rt.executor(), count, std::move(at), m, std::move(handler))->ask_for_turn();
}

}  // namespace rondo
