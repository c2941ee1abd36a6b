// The completion token `rondo::block`: the calling thread waits and gets the outcome as a value.
//
//   rondo::result<total> t = counter.ask(get{}, 10ms, rondo::block);
//
// Fails with would_deadlock, and sends nothing, on a thread that completes the operation: the runtime's own thread, its
// pollers, its teams with the handlers that they run, and a client's thread; and in a child forked after the runtime or
// client was made. Do not use it on threads that run an io_context, as that then stands still.
#pragma once

#include <boost/asio/async_result.hpp>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "runtime/base/errc.hpp"
#include "runtime/os/own_threads.hpp"

namespace rondo {

/// The type of `block`.
struct block_t {};
inline constexpr block_t block{};  // the completion token

namespace detail {

/// Whether the completion of an operation with this argument would wait for the calling thread. For an argument that
/// completes operations there is an `own_threads const* threads_of(argument)` in its namespace.
template <class Argument>
bool waits_for_itself(Argument const& argument) noexcept {
  if constexpr (requires { threads_of(argument)->would_deadlock(); }) {
    auto const* const threads = threads_of(argument);
    return threads != nullptr && threads->would_deadlock();
  }
  return false;
}

/// Passes a completion's value to the thread that waits for it.
template <class T>
class rendezvous {
 public:
  void put(T value) {
    std::lock_guard lock(mutex_);
    value_.emplace(std::move(value));
    arrived_.notify_one();  // under the lock: the waiter destroys this object as soon as it can
  }
  T take() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return value_.has_value(); });
    return std::move(*value_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::optional<T> value_;
};

}  // namespace detail

}  // namespace rondo

// -- for Boost

namespace boost::asio {

template <>
class async_result<rondo::block_t, void(boost::system::error_code)> {
 public:
  using return_type = boost::system::error_code;
  template <class Initiation, class... Args>
  static return_type initiate(Initiation&& initiation, rondo::block_t, Args&&... args) {
    if ((rondo::detail::waits_for_itself(args) || ...)) return rondo::errc::would_deadlock;
    rondo::detail::rendezvous<boost::system::error_code> meeting;
    std::forward<Initiation>(initiation)([&meeting](boost::system::error_code ec) { meeting.put(ec); },
                                         std::forward<Args>(args)...);
    return meeting.take();
  }
};

template <class T>
class async_result<rondo::block_t, void(boost::system::error_code, T)> {
 public:
  using return_type = rondo::result<T>;
  template <class Initiation, class... Args>
  static return_type initiate(Initiation&& initiation, rondo::block_t, Args&&... args) {
    if ((rondo::detail::waits_for_itself(args) || ...))
      return return_type(boost::system::in_place_error, rondo::make_error_code(rondo::errc::would_deadlock));
    rondo::detail::rendezvous<return_type> meeting;
    std::forward<Initiation>(initiation)(
        [&meeting](boost::system::error_code ec, T value) {
          meeting.put(ec ? return_type(ec) : return_type(std::move(value)));
        },
        std::forward<Args>(args)...);
    return meeting.take();
  }
};

}  // namespace boost::asio
