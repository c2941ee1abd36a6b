// The completion token `rondo::block`: the calling thread waits and gets the outcome as a value.
//
//   rondo::result<total> t = counter.ask(get{}, 10ms, rondo::block);
//
// Not for threads that run an io_context, and never inside a handler.
#pragma once

#include <boost/asio/async_result.hpp>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "runtime/base/errc.hpp"

namespace rondo {

struct block_t {};
inline constexpr block_t block{};

namespace detail {

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

namespace boost::asio {

template <>
class async_result<rondo::block_t, void(boost::system::error_code)> {
 public:
  using return_type = boost::system::error_code;
  template <class Initiation, class... Args>
  static return_type initiate(Initiation&& initiation, rondo::block_t, Args&&... args) {
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
