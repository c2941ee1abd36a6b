// The connection behind a client: connects, reconnects, and keeps its open requests. Private to the library.
//
// Threads: its own thread, except for submit, stop, said and count_open. `open_` holds the open requests by id, which
// is also the key of a send. Ids grow, so sends keep their order when the client reconnects.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <mutex>
#include <thread>

#include "runtime/service/client/client.hpp"
#include "runtime/service/net/credentials.hpp"
#include "runtime/service/net/transport.hpp"
#include "runtime/service/wire/frame.hpp"
#include "runtime/service/wire/wire.hpp"

namespace rondo::service {

class client::link : public std::enable_shared_from_this<link> {
 public:
  using clock = std::chrono::steady_clock;

  /// One request. A send is encoded when it is sent; any other request arrives as a frame.
  struct item {
    destination to{};
    std::uint32_t type = 0;
    std::vector<std::byte> payload{};
    send_options options{};
    answer_handler on_answer{};

    std::vector<std::byte> frame{};
    response_handler on_response{};

    clock::time_point deadline = clock::time_point::max();  // which the service learns
    clock::time_point until = clock::time_point::max();     // it completes with timed_out
    bool sent = false;
    bool is_send() const noexcept { return on_response == nullptr; }
  };

  /// The end of a limit that begins now.
  static clock::time_point after(std::chrono::nanoseconds limit) noexcept {
    auto const now = clock::now();
    return limit < clock::time_point::max() - now ? now + limit : clock::time_point::max();
  }

  explicit link(client_options options);
  void run();
  /// On the own thread, in a handler, `itself` lives until that thread ends. Otherwise waits for that.
  void stop(std::shared_ptr<link> itself);
  void submit(item i);
  template <class F>
  auto said(F f) const {
    std::lock_guard lock(said_mutex_);
    return f(*this);
  }
  std::size_t count_open() const noexcept { return count_.load(std::memory_order_relaxed); }

  own_threads const threads{};  // its thread

  // Guarded by said_mutex_.
  std::string service_name, last_words;
  std::uint64_t connections = 0;

 private:
  /// At most half of the keys that a service remembers per session (dedup_cache::keys_per_session).
  static constexpr std::uint64_t key_window = 2048;
  enum class state { idle, connecting, greeting, ready };

  void take(item i);
  void connect();
  void on_connected(stream_socket socket);
  void try_again_later();
  void pump();
  void send_item(std::uint64_t id, item& i);
  void write(std::span<std::byte const> frame);
  void flush();
  void read();
  void on_response(std::span<std::byte const> frame);
  void on_welcome(wire::welcome const& w);
  void lost(std::string why);
  void refused(std::string const& why);
  /// Completes the open requests that `which` selects, with an error.
  template <class Which>
  void end_those(Which which, errc reason, std::string const& why);
  void end(item i, errc reason, std::string const& why);
  void look_at_time();
  void arm_timer(clock::time_point when);

  client_options options_;
  std::unique_ptr<boost::asio::ssl::context> tls_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
  std::thread thread_;
  std::shared_ptr<link> itself_;

  state state_ = state::idle;
  std::unique_ptr<transport> stream_;
  std::uint64_t stream_number_ = 0;  // waits on an earlier stream are ignored
  frame_reader in_{0};
  std::vector<std::byte> out_;
  bool waits_for_room_ = false, flush_posted_ = false, stopped_ = false, timer_armed_ = false;
  std::map<std::uint64_t, item> open_;
  std::uint64_t next_id_ = 1, sent_up_to_ = 0, session_ = 0, incarnation_ = 0;
  clock::time_point apart_since_ = clock::now();
  std::chrono::milliseconds pause_{0};
  boost::asio::steady_timer again_{context_}, deadline_{context_};

  std::atomic<std::size_t> count_{0};
  mutable std::mutex said_mutex_;
};

}  // namespace rondo::service
