// A stream socket whose reads and writes fail if the peer makes no progress for too long.
//
// Threads: those of its io_context, which is one. Lifetime: held by shared_ptr; operations keep it alive.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>
#include <span>

#include "runtime/base/errc.hpp"

namespace rondo::streams {

/// Errors as values.
inline constexpr auto as_result = boost::asio::as_tuple(boost::asio::use_awaitable);

class timed_socket : public std::enable_shared_from_this<timed_socket> {
 public:
  using stream_socket = boost::asio::generic::stream_protocol::socket;
  /// Until `patience` is called, each operation has so long as a whole: a stranger gains no time by sending byte by
  /// byte.
  timed_socket(stream_socket socket, std::chrono::milliseconds limit)
      : socket_(std::move(socket)), timer_(socket_.get_executor()), patience_(limit) {}

  // One of these at a time. They fail with `timed_out` if they take too long; the socket is then closed.
  boost::asio::awaitable<error_code> connect(boost::asio::generic::stream_protocol::endpoint const& to);
  boost::asio::awaitable<error_code> read(std::span<std::byte> into);
  boost::asio::awaitable<error_code> write(std::span<std::byte const> first,
                                           std::span<std::byte const> then = {});

  /// Waits, however long it takes, until the peer says that it lives (wire_alive), which counts as progress of a
  /// `write`. Fails when it has closed the connection, and with protocol_error if it sends something else. May run at
  /// the same time as `write`.
  boost::asio::awaitable<error_code> wait_for_alive();
  /// From now on an operation fails if no byte passes for so long; zero: never.
  void patience(std::chrono::milliseconds p) noexcept;
  /// Nothing more will be sent; what was is delivered.
  void finish() noexcept;
  /// Operations under way fail.
  void close() noexcept;

 private:
  using clock = std::chrono::steady_clock;
  void begin();
  void passed() noexcept {
    if (bytes_renew_it_) progress_ = clock::now();
  }
  error_code outcome(error_code ec) noexcept;
  void watch();

  stream_socket socket_;
  boost::asio::steady_timer timer_;
  std::chrono::milliseconds patience_;
  bool bytes_renew_it_ = false;
  clock::time_point progress_{};  // since when the patience counts: an operation began, or a byte passed
  bool is_busy_ = false;          // an operation is under way
  bool is_watched_ = false;       // the timer runs
  bool is_late_ = false;          // the timer has closed the socket
  bool is_closed_ = false;
};

}  // namespace rondo::streams
