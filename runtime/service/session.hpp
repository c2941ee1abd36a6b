// One connection of a service: reads requests, has actors answer them, writes responses.
//
// Threads: a session lives on the service's network thread; `respond` comes from any thread, mostly from the team that ran
// the handler, which then also writes to the socket if that saves the network thread from being woken.
// Lifetime: shared by the network thread, its waits, and the asks that are on their way.
//
// What holds a client back: its open requests (beyond limits.open_requests it is not read), responses that it has not taken,
// a request that takes long, its rate, and its share of each
// turn (requests_per_turn, and less for one that always has more while others ask); so memory is bounded, and one that floods
// delays others by a short turn. What ends it: see drop_reason.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/service/dedup_cache.hpp"
#include "runtime/service/net/transport.hpp"
#include "runtime/service/service_core.hpp"
#include "runtime/service/wire/frame.hpp"
#include "runtime/service/wire/wire.hpp"

namespace rondo::service {

class session : public std::enable_shared_from_this<session> {
 public:
  using clock = service_core::clock;

  session(std::shared_ptr<service_core> core, std::unique_ptr<transport> stream, client_address from,
          bool asks_for_token);

  // -- network thread

  void start();
  /// Handles the requests that have come, at most a turn's worth; when there may be more, it is `unfinished` then.
  void take_requests();
  /// Ends it when something takes too long. `now` is looked at about once a second.
  void check_time(clock::time_point now);
  /// Reads no further requests; ends once all that are open are answered and sent.
  void drain();
  /// Says why, as far as the client takes it, and ends.
  void drop(drop_reason why, std::string const& text);
  /// Ends it as it is; returns how many requests were open.
  std::uint32_t abandon();
  /// Sends what waits.
  void flush() { end_turn(0); }
  /// It is not read until a certain response.
  void hold();
  access const& allows() const noexcept { return allows_; }
  client_address const& from() const noexcept { return from_; }
  bool greeted() const noexcept { return greeted_; }
  bool ended() const noexcept { return ended_; }

  // -- any thread

  /// Sends a response, which ends one request.
  void respond(std::span<std::byte const> frame);
  /// The same for the request for which it was held.
  void respond_held(std::span<std::byte const> frame);

 private:
  void wait_for_requests();
  void on_readable();
  bool take_request(int& taken);
  bool has_token();
  int share_of_turn() noexcept;
  void end_turn(int taken);
  void handle(std::span<std::byte const> frame);
  void greet(std::uint64_t id, wire::hello const& h);
  void handle_send(std::uint64_t id, wire::send const& s);
  void remember(actor_id ask);
  bool open_key(std::uint64_t id, wire::send const& s);
  void end();
  bool write_some();
  void wait_for_room();
  void count_untaken(std::size_t bytes) noexcept;
  std::size_t allowance() const noexcept;
  std::size_t waiting_bytes() const noexcept { return out_.size() - out_begin_; }

  static constexpr int requests_per_turn = 32;
  static constexpr int turns_of_a_flood = 8;         // in succession, after each of which it had more
  static constexpr int flood_requests_per_turn = 4;  // while others ask, who wait for up to two turns of it
  static constexpr int others_ask_for = 4;  // of the service's looks at the clock, after their last request

  std::shared_ptr<service_core> shared_core_;  // first: the socket needs its context to the end
  service_core& core_;
  std::unique_ptr<transport> stream_;
  client_address from_;
  bool asks_for_token_;
  access allows_;
  frame_reader in_;
  bool greeted_ = false, ended_ = false, reading_ = false, waits_for_room_ = false;
  std::uint64_t id_ = 0;                   // that the client gave itself
  clock::time_point since_ = core_.now();  // connected, or its unfinished frame began
  bool filled_ = false;                    // the last read took all that there was room for
  bool at_frame_ = true;                   // and began with a frame
  bool turn_over_ = false;                 // though it has more
  int full_turns_ = 0;                     // in succession, after each of which it had more
  clock::time_point tokens_at_ = core_.now();
  double tokens_ = 0;
  std::vector<actor_id> asked_;  // asks that wait for their answers, and some that do so no more
  bool waits_for_token_ = false;
  boost::asio::steady_timer rate_timer_;

  std::mutex mutex_;  // guards all below, and writes
  std::vector<std::byte> out_;
  std::size_t out_begin_ = 0;
  int open_ = 0;  // requests; for a moment less than 0, as a turn counts its own at its end
  bool closed_ = false;
  bool draining_ = false;            // written by the network thread, which reads it without
  bool in_turn_ = false;             // the network thread reads requests, and flushes after that
  bool flush_posted_ = false;        // or a wait for room in the socket
  bool full_ = false;                // not read, for its open requests
  bool held_ = false;                // nor until one of them is answered
  std::size_t counted_bytes_ = 0;    // in the service's untaken_bytes
  clock::time_point stuck_since_{};  // the socket takes nothing; zero: it does
  bool broken_ = false;              // nor ever will
};

}  // namespace rondo::service
