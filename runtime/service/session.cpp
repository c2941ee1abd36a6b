#include "runtime/service/session.hpp"

#include <fmt/format.h>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "runtime/service/operations.hpp"
#include "runtime/text/clean_text.hpp"

namespace rondo::service {

namespace asio = boost::asio;

session::session(std::shared_ptr<service_core> core, std::unique_ptr<transport> stream, client_address from,
                 bool asks_for_token)
    : shared_core_(std::move(core)),
      core_(*shared_core_),
      stream_(std::move(stream)),
      from_(std::move(from)),
      asks_for_token_(asks_for_token),
      peer_(core_.tables.of(from_.peer, 0, standing::client)),
      connection_(quota_place::counted(peer_, table::strangers)),
      in_(core_.limits.frame_bytes),
      rate_timer_(core_.network) {}

void session::start() { wait_for_requests(); }

void session::wait_for_requests() {
  if (ended_ || reading_) return;
  reading_ = true;
  stream_->async_readable([self = shared_from_this()](error_code ec) {
    self->reading_ = false;
    if (self->ended_) return;
    ec ? self->end() : self->on_readable();
  });
}

void session::on_readable() {
  if (draining_) return;
  error_code ec;
  auto const room = in_.room(4096);
  auto const n = stream_->read(room, ec);
  filled_ = n == room.size();
  if (ec == asio::error::would_block) return wait_for_requests();
  if (ec == boost::system::errc::protocol_error) return drop(drop_reason::malformed, stream_->refusal());
  if (ec) return end();
  service_counters::add(core_.counters.bytes_in, n);
  at_frame_ = !in_.in_frame();
  in_.came(n);
  take_requests();  // bytes left in the socket wait for another turn
}

void session::take_requests() {
  if (ended_) return;
  auto const self = shared_from_this();
  int allowed = 0;
  {
    std::lock_guard lock(mutex_);
    if (open_ == 0) asked_.clear();  // all have been answered
    if (!held_ && waiting_bytes() <= allowance())
      allowed = static_cast<int>(core_.limits.open_requests) - open_;
    full_ = allowed <= 0;
    in_turn_ = !full_;
  }
  if (allowed <= 0) return flush();
  allowed = std::min(allowed, share_of_turn());
  bool more = true;
  int taken = 0;
  turn_over_ = false;
  while (more && taken < allowed && !turn_over_ && !ended_ && !draining_) more = take_request(taken);
  full_turns_ = more || filled_ ? full_turns_ + 1 : 0;
  end_turn(taken);
  if (more && !draining_) core_.unfinished.push_back(self);
}

/// Long turns are cheap, but clients that ask now and then wait for the turns of others, so a flooding client gets
/// short ones.
int session::share_of_turn() noexcept {
  bool const floods = full_turns_ >= turns_of_a_flood;
  if (!floods) core_.others_ask = others_ask_for;
  return floods && core_.others_ask != 0 ? flood_requests_per_turn : requests_per_turn;
}

/// Handles the next request, if there is one. False if no more may be taken until take_requests is called again.
bool session::take_request(int& taken) {
  if (!has_token()) return false;
  std::span<std::byte const> frame;
  switch (in_.next(frame)) {
    case frame_reader::state::frame:
      ++taken;
      handle(frame);
      return true;
    case frame_reader::state::too_large:
      drop(drop_reason::too_large, fmt::format("a frame has {} bytes; this service accepts at most {}",
                                               in_.refused_bytes(), core_.limits.frame_bytes));
      return false;
    case frame_reader::state::more:
      break;
  }
  tokens_ += 1;
  if (in_.in_frame() && (taken != 0 || std::exchange(at_frame_, false)))
    since_ = core_.now();  // when this frame began
  wait_for_requests();
  return false;
}

/// Takes a token from the client's rate limit. False if there is none; take_requests is called once there is.
bool session::has_token() {
  auto const rate = core_.limits.requests_per_second;
  if (rate == 0) return true;
  auto const now = core_.now();
  tokens_ = std::min(tokens_ + std::chrono::duration<double>(now - tokens_at_).count() * rate,
                     std::max(rate / 10.0, 1.0));
  tokens_at_ = now;
  if (tokens_ >= 1) {
    tokens_ -= 1;
    return true;
  }
  if (std::exchange(waits_for_token_, true))
    return false;  // restarting the timer would cancel the pending wait, each time
  rate_timer_.expires_after(std::chrono::milliseconds(10));
  rate_timer_.async_wait([self = shared_from_this()](error_code) {
    self->waits_for_token_ = false;
    self->take_requests();
  });
  return false;
}

void session::handle(std::span<std::byte const> frame) {
  auto const* const r = verified<wire::request>(frame);
  if (r == nullptr || r->body() == nullptr) {
    service_counters::add(core_.counters.frames_refused);
    return drop(drop_reason::malformed, "a frame is not a valid request of schemas/wire.fbs");
  }
  service_counters::add(core_.counters.requests);
  if (r->id() == 0)
    return drop(drop_reason::malformed,
                "a request has the id 0, which is reserved for messages about the connection");
  if (!greeted_) {
    auto const* const h = r->body_as_hello();
    if (h == nullptr) return drop(drop_reason::malformed, "the first request must be hello");
    return greet(r->id(), *h);
  }
  if (auto const* const s = r->body_as_send(); s != nullptr) return handle_send(r->id(), *s);
  if (r->body_as_hello() != nullptr)
    return respond(outcome_frame(r->id(), errc::wrong_state, "hello was already sent on this connection"));
  operate(core_, shared_from_this(), *r);
  std::lock_guard lock(mutex_);
  if (waiting_bytes() > allowance()) turn_over_ = true;
}

/// Bytes of unread responses above which the client is not read. None while all clients together leave too many unread.
std::size_t session::allowance() const noexcept {
  return short_of_room() ? 0 : 4 * std::size_t{core_.limits.frame_bytes};
}

void session::hold() {
  turn_over_ = true;
  std::lock_guard lock(mutex_);
  held_ = true;
}

void session::respond_held(std::span<std::byte const> frame) {
  {
    std::lock_guard lock(mutex_);
    held_ = false;
    long_output_ = long_output_ || frame.size() > long_response;
  }
  respond(frame);
  // At once, so that the next long response of another client knows of it.
  std::lock_guard lock(mutex_);
  if (!closed_) count_untaken(waiting_bytes());
}

bool session::has_gone() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

void session::greet(std::uint64_t id, wire::hello const& h) {
  if (h.version() != wire::protocol_version)
    return drop(drop_reason::malformed,
                fmt::format("this service speaks protocol version {}, the client version {}",
                            static_cast<int>(wire::protocol_version), h.version()));
  if (asks_for_token_ && !core_.tokens.empty()) {
    token_ = token_for(core_.tokens, text_of(h.token()));
    if (!token_)
      return drop(drop_reason::unauthorised,
                  "the token is missing or wrong: see token_file in the service's configuration");
    allows_ = token_->allows;
  }
  peer_ = peer_of(token_);
  connection_ = peer_->who() == standing::owns ? quota_place::counted(peer_, table::connections)
                                               : quota_place(peer_, table::connections);
  if (!connection_) return drop(drop_reason::too_many_connections, peer_->why_refused(table::connections));
  greeted_ = true;
  id_ = {h.session(), token_ ? token_->number : 0};
  if (auto const program = clean_text(text_of(h.program()).substr(0, 64)); !program.empty())
    from_.text = fmt::format("{} ({})", program, from_.text);
  auto& b = frame_builder();
  auto const name = b.CreateString(core_.name);
  respond(response_frame(b, id,
                         wire::Createwelcome(b, wire::protocol_version, name, core_.incarnation,
                                             core_.limits.frame_bytes, core_.limits.open_requests)));
}

quota_peer session::peer_of(token_ptr const& t) const {
  if (!t) return core_.tables.of(from_.peer, 0, standing::owns);
  return core_.tables.of(from_.peer, t->number,
                         t->allows.is_operator() ? standing::operates : standing::client);
}

void session::take_new_tokens() {
  if (ended_ || !greeted_ || !asks_for_token_) return;
  if (core_.tokens.empty()) return;  // it keeps its rights
  auto const now = token_ ? token_for(core_.tokens, token_->word) : nullptr;
  if (!now)
    return drop(drop_reason::unauthorised, token_ ? "its token was removed from the service's configuration"
                                                  : "the service now requires a token");
  token_ = now;
  allows_ = now->allows;  // what it holds stays with the peer that it was when it connected
}

// -- writing

void session::respond(std::span<std::byte const> frame) {
  std::lock_guard lock(mutex_);
  --open_;
  service_counters::add(core_.counters.responses);
  if (closed_) return;
  out_.insert(out_.end(), frame.begin(), frame.end());
  if (in_turn_ || flush_posted_) return;  // the network thread is about to flush
  if (service_core::of_this_thread == &core_ && core_.handling) {
    flush_posted_ = true;
    core_.answered.push_back(shared_from_this());
    return;
  }
  // The response to the last open request is written here. Otherwise more responses follow soon, and the network thread
  // sends several at once.
  if (open_ == 0 && !full_ && !draining_ && stuck_since_ == clock::time_point{} &&
      stream_->writes_from_any_thread() && write_some())
    return;
  flush_posted_ = true;
  // Posted under the mutex, and so before `end`; after that the network thread may never run it.
  asio::post(core_.network, [self = shared_from_this()] { self->flush(); });
}

/// Writes what the socket takes. False if bytes are left; `broken_` then says whether for good. Call it under the
/// mutex.
bool session::write_some() {
  error_code ec;
  auto const n = stream_->write({out_.data() + out_begin_, waiting_bytes()}, ec);
  service_counters::add(core_.counters.bytes_out, n);
  out_begin_ += n;
  if (waiting_bytes() == 0) {
    count_untaken(0);
    out_.clear();
    out_begin_ = 0;
    long_output_ = false;
    if (out_.capacity() > 64 * 1024) out_.shrink_to_fit();
    stuck_since_ = {};
    taken_since_ = 0;
    return true;
  }
  count_untaken(waiting_bytes());
  broken_ = ec && ec != asio::error::would_block;
  taken_since_ += n;
  if (taken_since_ >= least_taken || stuck_since_ == clock::time_point{}) {
    stuck_since_ = core_.now();
    taken_since_ = 0;
  }
  return false;
}

/// Call it under the mutex.
void session::count_untaken(std::size_t bytes) noexcept {
  if (bytes == counted_bytes_) return;
  peer_->add(table::response_bytes, bytes - counted_bytes_);  // modulo 2^64, so right also for a decrease
  counted_bytes_ = bytes;
}

/// Counts the turn's requests, if there was a turn, and sends pending output.
void session::end_turn(int taken) {
  bool over = false, resume = false;
  {
    std::lock_guard lock(mutex_);
    open_ += taken;
    in_turn_ = flush_posted_ = false;
    if (ended_) return;
    if (waiting_bytes() != 0 && !write_some() && !broken_) {
      flush_posted_ = true;
      return wait_for_room();
    }
    over = broken_ || (draining_ && open_ == 0);
    resume = full_ && !held_ && open_ < static_cast<int>(core_.limits.open_requests);
    if (resume) full_ = false;
  }
  if (over) return end();
  if (resume) core_.unfinished.push_back(shared_from_this());
}

void session::wait_for_room() {
  if (std::exchange(waits_for_room_, true)) return;
  stream_->async_writable([self = shared_from_this()](error_code ec) {
    self->waits_for_room_ = false;
    if (self->ended_) return;
    ec ? self->end() : self->flush();
  });
}

// -- endings

void session::check_time(clock::time_point now) {
  if (ended_) return;
  if (!greeted_ && now - connected_ > core_.limits.hello)
    return drop(drop_reason::idle, "the client did not say hello in time");
  bool stuck = false, full = false;
  {
    std::lock_guard lock(mutex_);
    stuck = stuck_since_ != clock::time_point{} && now - stuck_since_ > core_.limits.reading;
    full = full_;
  }
  if (stuck) return drop(drop_reason::slow_reader, "the client did not read its responses in time");
  if (full && stream_->hung_up()) return end();  // otherwise a read notices that it has closed
  if (in_.in_frame() && reading_ && !full && now - since_ > core_.limits.frame)
    drop(drop_reason::idle, "a request did not arrive completely in time");
}

void session::drain() {
  if (ended_) return;
  bool drops_output = false;
  {
    std::lock_guard lock(mutex_);
    draining_ = true;
    drops_output = long_output_ && open_ == 0;
    if (!closed_ && !drops_output) {
      auto const bye = outcome_frame(0, errc::stopped, "the service is stopping");
      out_.insert(out_.end(), bye.begin(), bye.end());
    }
  }
  core_.counters.count_drop(drop_reason::shutdown);
  if (drops_output) return end();  // only a client that looks at the service loses something
  flush();
}

std::uint32_t session::abandon() {
  std::uint32_t left = 0;
  {
    std::lock_guard lock(mutex_);
    left = static_cast<std::uint32_t>(std::max(open_, 0));
  }
  end();
  return left;
}

void session::drop(drop_reason why, std::string const& text) {
  if (ended_) return;
  core_.log_drop(why, fmt::format("{} is dropped ({}): {}", from_.text, name_of(why), text));
  {
    std::lock_guard lock(mutex_);
    auto const bye = outcome_frame(0, errc::service_refuses, text);
    out_.insert(out_.end(), bye.begin(), bye.end());
    write_some();
  }
  end();
}

void session::end() {
  if (ended_) return;
  ended_ = true;
  rate_timer_.cancel();
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    stream_->close();
    count_untaken(0);
    out_ = {};
    out_begin_ = 0;
  }
  connection_.give_back();
  for (auto const ask : std::exchange(asked_, {})) core_.rt.cancel(ask);
  service_counters::add(core_.counters.connections_open, ~std::uint64_t{0});  // one less
  core_.sessions.erase(shared_from_this());
}

}  // namespace rondo::service
