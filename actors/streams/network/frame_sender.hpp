// Sends the frames of a stage to readers in other processes: listens on a socket, and serves any number of
// frame_receivers.
//
// Each reader says which delivery it wants, and has a queue of its own: a slow one loses frames (`latest`, `every`) or
// makes the stage wait (`lossless`), as inside a graph. A frame is copied once, into a buffer that all queues share;
// buffers are used again.
// Bounds: `most_readers` connections, each with `capacity` frames that wait and one that is being sent. A client that
// sends no valid hello, or neither takes a byte nor says that it lives for `patience`, is disconnected, with a line in
// the log.
// Threads: its own one for the sockets. `try_send` and `end` by one thread, everything else from any.
// There is no authentication: only its owner can connect to a Unix socket, but anybody who can reach a TCP port can
// read.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "actors/streams/network/network_log.hpp"
#include "actors/streams/network/stage_waker.hpp"
#include "actors/streams/network/wire.hpp"
#include "runtime/net/endpoint.hpp"
#include "runtime/os/made_here.hpp"

namespace rondo::streams {

struct sender_options {
  endpoint listen;
  frame_terms terms;                // of the frames
  std::uint32_t capacity = 2;       // frames that wait for each reader
  std::uint32_t readers = 0;        // waits while there are fewer; 0: frames are lost then, and counted
  std::uint32_t most_readers = 16;  // at the same time
  std::chrono::milliseconds patience{5000};  // with a reader that takes and says nothing; zero: for ever
  /// Wakes the stage after `try_send` has returned false; on the sender's thread. Empty: it is not woken.
  std::function<void()> wake{};
  network_log log{};
};

struct sender_counts {
  std::uint64_t frames = 0;   // that the stage has sent
  std::uint64_t passed = 0;   // written to readers; one that goes to two counts twice
  std::uint64_t lost = 0;     // not written: there was no reader, or one was too slow, or left; likewise
  std::uint32_t readers = 0;  // now
  std::uint64_t joined = 0;   // readers, so far
  std::uint64_t refused = 0;  // clients that were no readers of such frames, or one too many
};

class frame_sender {
 public:
  /// Listens. Throws config_error if another process listens there, std::system_error if the system refuses.
  explicit frame_sender(sender_options options);
  /// After `end`, waits until the readers have taken what was sent, or for 10 s. A forked child's copy does nothing.
  ~frame_sender();
  frame_sender(frame_sender const&) = delete;
  frame_sender& operator=(frame_sender const&) = delete;

  /// Sends a frame to all readers. False: it was not taken, because a `lossless` reader has no room, or because
  /// fewer read than it waits for; the stage is woken when that may have changed.
  bool try_send(frame_origin const& origin, void const* about, std::span<std::byte const> data);
  /// From now on frames that nobody reads are lost, and counted: it waits for no more readers.
  void needs_no_readers();
  /// Nothing more is sent: the readers are told.
  void end();

  /// Frames lost since the last call.
  std::uint64_t take_lost();
  /// Whether somebody reads.
  bool has_readers() const;
  sender_counts counts() const;
  /// The address, with the real port where 0 was given.
  endpoint where() const { return where_; }

 private:
  struct packet;
  struct reader;
  using reader_ptr = std::shared_ptr<reader>;

  void wake_readers();
  void welcome(boost::asio::generic::stream_protocol::socket socket, std::string who);
  boost::asio::awaitable<std::string> serve(reader_ptr r);
  boost::asio::awaitable<std::string> greet(reader_ptr r);
  boost::asio::awaitable<std::string> send_frames(reader_ptr r);
  boost::asio::awaitable<void> send_end(reader_ptr r);
  boost::asio::awaitable<void> watch(reader_ptr r);
  boost::asio::awaitable<void> hang_up(reader_ptr r, std::chrono::milliseconds limit);
  std::string join(reader_ptr const& r, reader_hello const& hello);
  void leave(reader_ptr const& r, std::string const& why);
  void say(std::string const& line);
  void enqueue(reader& r, std::shared_ptr<packet> const& p);
  std::shared_ptr<packet> free_packet();

  sender_options const options_;
  std::uint64_t const session_;
  endpoint where_;

  mutable std::mutex mutex_;  // guards what follows, also in the readers
  std::condition_variable all_left_;
  std::list<reader_ptr> readers_;                 // that have joined
  std::vector<std::shared_ptr<packet>> packets_;  // of which those that nobody else has are free
  stage_waker stage_{options_.wake};
  sender_counts counts_;
  std::uint64_t taken_lost_ = 0;             // what `take_lost` has returned
  frame_origin next_{};                      // what follows the last frame
  std::uint32_t needed_ = options_.readers;  // waits while there are fewer readers
  bool has_ended_ = false;

  // Its sockets and their clock are shared with forked children.
  process_ptr<boost::asio::io_context> const context_ = make_process_ptr<boost::asio::io_context>(1);
  boost::asio::io_context& network_ = *context_;
  struct entrance;
  process_ptr<entrance> entrance_;  // of the sockets' thread
  process_ptr<std::thread> thread_;
};

}  // namespace rondo::streams
