// Those who read from a frame_sender, and the frames that wait for them; for its two sources alone.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <deque>

#include "actors/streams/network/frame_sender.hpp"
#include "actors/streams/network/timed_socket.hpp"
#include "runtime/net/listener.hpp"
#include "runtime/net/log_throttle.hpp"

namespace rondo::streams {

inline constexpr std::chrono::seconds longest_linger{
    10};  // at the end, until the readers have taken what was sent

/// A frame that readers share.
struct frame_sender::packet {
  frame_header header{};
  std::unique_ptr<std::byte[]> data;
  std::span<std::byte const> bytes() const { return {data.get(), header.data_bytes}; }
};

/// A client: at first one that may become a reader.
struct frame_sender::reader {
  reader(timed_socket::stream_socket s, std::string name)
      : who(std::move(name)),
        changed(s.get_executor()),
        pause(s.get_executor()),
        socket(std::make_shared<timed_socket>(std::move(s), longest_hello)) {}

  /// Until something has changed, or for so long: then false.
  boost::asio::awaitable<bool> wait(std::chrono::milliseconds limit) {
    changed.expires_after(limit);
    auto const [cancelled] = co_await changed.async_wait(as_result);
    co_return static_cast<bool>(cancelled);
  }

  std::string const who;
  delivery how = delivery::latest;
  std::chrono::milliseconds alive_every = rarest_alive;
  // Guarded by the sender's mutex.
  struct waiting {
    std::shared_ptr<packet> frame;
    std::uint64_t first;  // see frame_header
  };
  std::deque<waiting> queue;
  std::shared_ptr<packet> sending;
  frame_origin first{};  // that came after it had joined, of the present session
  std::uint64_t passed = 0, lost = 0;
  bool has_joined = false;
  // Of the sockets' thread.
  boost::asio::steady_timer changed;  // is cancelled when there is something to do
  boost::asio::steady_timer pause;    // between two looks at what it says
  bool has_hung_up = false;
  error_code hung_up_by{};
  std::shared_ptr<timed_socket> socket;
};

/// Where clients come in.
struct frame_sender::entrance {
  std::unique_ptr<listener> door;
  std::list<reader_ptr> newcomers;  // that have not joined yet
  log_throttle throttle;
};

}  // namespace rondo::streams
