// One connection of a service: reads requests, has actors answer them, writes responses.
//
// Threads: a session lives on the service's network thread. `respond` may be called from any thread, usually from the
// team that ran the handler; it then writes to the socket itself if that saves waking the network thread.
// Lifetime: shared by the network thread, pending waits, and asks in flight.
//
// Flow control: a client is not read while it has limits.open_requests open requests, too many bytes of unread
// responses, or a slow request in progress, nor faster than its rate. Each turn takes at most requests_per_turn of its
// requests, and fewer from a client that always has more while others ask. So memory is bounded, and a flooding client
// delays others only by a short turn. drop_reason lists why a connection is dropped.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <mutex>
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
  /// Handles received requests, at most one turn's worth. Adds itself to `unfinished` if there may be more.
  void take_requests();
  /// Drops the connection if something takes too long. Called a few times a second.
  void check_time(clock::time_point now);
  /// Stops reading requests. Closes once all open requests are answered and sent.
  void drain();
  /// Sends the reason, as far as the socket takes it, and closes.
  void drop(drop_reason why, std::string const& text);
  /// Closes at once. Returns how many requests were open.
  std::uint32_t abandon();
  /// Sends pending output.
  void flush() { end_turn(0); }
  /// Stops reading until `respond_held`.
  void hold();
  access const& allows() const noexcept { return allows_; }
  client_address const& from() const noexcept { return from_; }
  quota_peer const& peer() const noexcept { return peer_; }
  /// Goes on with the token that has the same word now; drops the connection if there is none.
  void take_new_tokens();
  bool greeted() const noexcept { return greeted_; }
  bool ended() const noexcept { return ended_; }

  // -- any thread

  /// Sends a response, which completes one request.
  void respond(std::span<std::byte const> frame);
  /// The same for the request that called `hold`.
  void respond_held(std::span<std::byte const> frame);
  /// Whether the connection is closed.
  bool has_gone() const;
  /// Whether so many response bytes are unread, by its peer or by all, that it gets no more while it has unread ones.
  bool short_of_room() const noexcept { return !peer_->has_room(table::response_bytes); }

 private:
  void wait_for_requests();
  void on_readable();
  bool take_request(int& taken);
  bool has_token();
  int share_of_turn() noexcept;
  void end_turn(int taken);
  void handle(std::span<std::byte const> frame);
  void greet(std::uint64_t id, wire::hello const& h);
  quota_peer peer_of(token_ptr const& t) const;
  void handle_send(std::uint64_t id, wire::send const& s);
  std::string why_may_not(wire::send const& s) const;
  std::uint64_t trace_of(wire::send const& s);
  void remember(actor_id ask);
  bool open_key(std::uint64_t id, wire::send const& s);
  void end();
  bool write_some();
  void wait_for_room();
  void count_untaken(std::size_t bytes) noexcept;
  std::size_t allowance() const noexcept;
  std::size_t waiting_bytes() const noexcept { return out_.size() - out_begin_; }

  static constexpr int requests_per_turn = 32;
  static constexpr int turns_of_a_flood = 8;         // in a row, each with more requests left
  static constexpr int flood_requests_per_turn = 4;  // while others ask; they wait for up to two such turns
  static constexpr std::size_t long_response =
      4096;                                 // bytes; a longer one may be dropped at the end of the service
  static constexpr int others_ask_for = 4;  // ticks of the service's clock, after their last request
  static constexpr std::size_t least_taken = 4096;  // bytes of responses in limits.reading, if so many wait

  std::shared_ptr<service_core> shared_core_;  // first, so destroyed last: the socket needs its context
  service_core& core_;
  std::unique_ptr<transport> stream_;
  client_address from_;
  bool asks_for_token_;
  token_ptr token_;  // null: it needs none
  access allows_;
  quota_peer peer_;         // of its address until hello, then also of its token
  quota_place connection_;  // among strangers, then among connections
  frame_reader in_;
  bool greeted_ = false, ended_ = false, reading_ = false, waits_for_room_ = false;
  key_session id_;  // its number is 0 if the client chose none
  clock::time_point const connected_ = core_.now();
  clock::time_point since_{};  // when its unfinished frame began
  bool filled_ = false;        // the last read filled the buffer
  bool at_frame_ = true;       // the last read began at the start of a frame
  bool turn_over_ = false;     // ends the turn although there may be more requests
  int full_turns_ = 0;         // in a row, each with more requests left
  clock::time_point tokens_at_ = core_.now();
  double tokens_ = 0;
  std::vector<actor_id> asked_;  // asks that wait for their answers, and some that are done
  bool waits_for_token_ = false;
  boost::asio::steady_timer rate_timer_;

  mutable std::mutex mutex_;  // guards everything below, and writes to the stream
  std::vector<std::byte> out_;
  std::size_t out_begin_ = 0;
  int open_ = 0;  // requests; briefly negative, since a turn adds its own at its end
  bool closed_ = false;
  bool draining_ = false;            // written by the network thread, which reads it without the mutex
  bool in_turn_ = false;             // the network thread takes requests, and flushes afterwards
  bool flush_posted_ = false;        // a flush is posted, or waits for room in the socket
  bool full_ = false;                // not read: too many open requests or unread responses, or held
  bool held_ = false;                // not read until respond_held
  bool long_output_ = false;         // a long response of a held request is among what waits to be sent
  std::size_t counted_bytes_ = 0;    // its part of table::response_bytes
  clock::time_point stuck_since_{};  // since when the socket takes less than least_taken; zero: it takes all
  std::size_t taken_since_ = 0;      // bytes since then
  bool broken_ = false;              // writing failed for good
};

}  // namespace rondo::service
