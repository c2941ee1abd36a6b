// Receives frames for a stage from a frame_sender in another process. Reconnects automatically, so either process may
// start first, or die and start again.
//
// Frames are read into buffers, of which the stage takes the oldest one and copies it. While the stage does not take
// any:
//   latest     a newer frame replaces the one that waits
//   every      `capacity` frames wait; later ones are lost
//   lossless   likewise, but then nothing is read, so that the sender waits
// Lost frames are counted, whoever lost them: each frame has a number from its source.
// Threads: its own one for the socket. `front` and `pop` by one thread, everything else from any.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "actors/streams/network/network_log.hpp"
#include "actors/streams/network/stage_waker.hpp"
#include "actors/streams/network/timed_socket.hpp"
#include "actors/streams/network/wire.hpp"
#include "runtime/net/endpoint.hpp"
#include "runtime/os/made_here.hpp"

namespace rondo::streams {

struct receiver_options {
  endpoint connect;
  frame_terms terms;  // of the frames
  delivery how = delivery::latest;
  std::uint32_t capacity = 2;  // frames that wait for the stage; 1 with `latest`
  bool follows_end =
      false;  // when the sender's stage has ended, nothing more comes; otherwise waits for the next one
  std::chrono::milliseconds patience{5000};  // with a sender that says nothing; zero: for ever
  /// Whether frames with this `about` are among those that were agreed on. Gets about_bytes, from outside.
  std::function<bool(void const* about, std::uint64_t data_bytes)> fits;
  /// Wakes the stage after `front` has returned null; on the receiver's thread. Empty: it is not woken.
  std::function<void()> wake{};
  network_log log{};
};

struct receiver_counts {
  std::uint64_t frames = 0;       // that the stage has got
  std::uint64_t lost = 0;         // frames of the present source, and of those before, that it has not got
  std::uint64_t before = 0;       // frames that a source had sent before this joined
  std::uint64_t sources = 0;      // sessions of the process that the frames come from at first
  std::uint64_t connections = 0;  // so far; each but the first is a reconnection
};

/// A frame that has come.
struct received_frame {
  frame_origin origin{};
  alignas(8) std::byte about[max_about_bytes] = {};
  std::uint64_t bytes = 0;
  std::unique_ptr<std::byte[]> data;
  // -- for the receiver
  std::uint64_t connection = 0;  // that it came on
  std::uint64_t first = 0;       // see frame_header
  bool is_end = false;  // no frame: the sender has ended, and this is the origin that would have come next
};

class frame_receiver {
 public:
  /// Begins to connect.
  explicit frame_receiver(receiver_options options);
  /// A forked child's copy does nothing.
  ~frame_receiver();
  frame_receiver(frame_receiver const&) = delete;
  frame_receiver& operator=(frame_receiver const&) = delete;

  /// The oldest frame that has come, until `pop`. Null: there is none; the stage is woken when there is one, or none
  /// will come.
  received_frame const* front();
  /// The stage has taken that frame.
  void pop();
  /// Whether the sender has ended and all frames were taken; only with `follows_end`.
  bool is_over() const;

  /// Frames lost since the last call.
  std::uint64_t take_lost();
  receiver_counts counts() const;
  /// Why there is no connection now; empty: there is one.
  std::string trouble() const;

 private:
  using clock = std::chrono::steady_clock;
  using frame_ptr = std::unique_ptr<received_frame>;

  boost::asio::awaitable<void> run();
  boost::asio::awaitable<std::string> connect(std::shared_ptr<timed_socket> socket);
  boost::asio::awaitable<std::string> receive(std::shared_ptr<timed_socket> socket);
  boost::asio::awaitable<frame_ptr> room(std::shared_ptr<timed_socket> socket);
  std::string why_wrong(frame_header const& h) const;
  void deliver(frame_ptr f);
  bool has_end() const;
  std::string account(received_frame const& f);
  void say(std::string const& line) const;

  receiver_options const options_;

  mutable std::mutex mutex_;  // guards what follows
  std::vector<frame_ptr> free_;
  std::deque<frame_ptr> queue_;  // have come
  frame_ptr front_;              // the stage has it in hand
  bool is_over_ = false;
  stage_waker stage_{options_.wake};
  receiver_counts counts_;
  std::uint64_t taken_lost_ = 0;  // what `take_lost` has returned
  frame_origin next_{};           // follows the last frame that the stage has got
  std::string trouble_;
  std::uint64_t told_connection_ = 0;  // that the last frame came on
  std::chrono::milliseconds down_{};   // how long there was none before the present one

  // Of the socket's thread.
  frame_origin last_read_{};
  std::chrono::milliseconds alive_every_{};  // while nothing is read
  std::optional<clock::time_point> broke_;   // since when there is no connection, after there was one
  struct own_io {
    boost::asio::io_context network{1};
    boost::asio::steady_timer pause{network};
    boost::asio::steady_timer room{network};  // is cancelled when the stage has taken a frame
    std::thread thread{};
  };
  process_ptr<own_io> const io_ = make_process_ptr<own_io>();
};

}  // namespace rondo::streams
