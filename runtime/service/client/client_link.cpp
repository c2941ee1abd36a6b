#include "runtime/service/client/client_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <cstdio>
#include <random>

#include "runtime/messaging/deliver.hpp"
#include "runtime/os/run_handlers.hpp"
#include "runtime/os/start_thread.hpp"

namespace rondo::service {

namespace asio = boost::asio;

namespace {

template <class Protocol>
void connect_to(asio::io_context& context, typename Protocol::endpoint const& where,
                std::function<void(error_code, stream_socket)> done) {
  auto socket = std::make_shared<typename Protocol::socket>(context);
  socket->async_connect(where, [socket, context = &context, done = std::move(done)](error_code ec) {
    if constexpr (std::is_same_v<Protocol, asio::ip::tcp>) {
      error_code ignored;
      if (!ec) socket->set_option(asio::ip::tcp::no_delay(true), ignored);
    }
    done(ec, ec ? stream_socket(*context) : stream_socket(std::move(*socket)));
  });
}

/// The rest of a limit for the wire, where 0 means that there is none; as also for a rest that the field cannot hold.
std::uint32_t deadline_us(std::chrono::steady_clock::time_point until) {
  using std::chrono::microseconds;
  if (until == std::chrono::steady_clock::time_point::max()) return 0;
  auto const left = std::chrono::ceil<microseconds>(until - std::chrono::steady_clock::now()).count();
  return left > 0xffff'ffff ? 0 : static_cast<std::uint32_t>(std::max<std::int64_t>(left, 1));
}

}  // namespace

client::link::link(client_options options) : options_(std::move(options)) {
  if (options_.tls && !options_.at.is_unix) tls_ = client_tls(options_.authorities);
  std::random_device source;
  session_ = (std::uint64_t{source()} << 32 | source()) | 1;
}

void client::link::run() {
  thread_ = start_thread("a client of a service", [this] {
    own_threads::scope const own(&threads);
    run_handlers(context_, [](char const* text) {
      std::fprintf(stderr, "rondo: a completion handler of a client threw an exception: %s\n", text);
    });
    auto const last = std::move(itself_);  // after all else: this may be the end of the link
  });
}

void client::link::stop(std::shared_ptr<link> itself) {
  asio::post(context_, [this] {
    stopped_ = true;
    if (stream_) stream_->close();
    end_those([](item const&) { return true; }, errc::cancelled, "the client was stopped");
    asio::post(context_, [this] { context_.stop(); });  // after the handlers of these requests
  });
  if (thread_.get_id() != std::this_thread::get_id()) return thread_.join();
  thread_.detach();
  itself_ = std::move(itself);
}

void client::link::submit(item i) {
  count_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a statistic
  asio::post(context_, [this, i = std::make_shared<item>(std::move(i))] { take(std::move(*i)); });
}

void client::link::take(item i) {
  if (stopped_) return end(std::move(i), errc::cancelled, "the client was stopped");
  if (i.until <= clock::now())
    return end(std::move(i), errc::timed_out, "its deadline passed before it was sent");
  auto const id = next_id_++;
  auto const until = i.until;
  open_.try_emplace(id, std::move(i));
  pump();
  if (state_ == state::idle) {
    apart_since_ = clock::now();
    pause_ = {};
    connect();
  }
  if (state_ != state::ready) arm_timer(apart_since_ + options_.connect_timeout);
  arm_timer(until);
}

// -- connecting

void client::link::connect() {
  state_ = state::connecting;
  auto done = [this](error_code ec, stream_socket s) {
    if (stopped_ || state_ != state::connecting) return;
    if (!ec) return on_connected(std::move(s));
    {
      std::lock_guard lock(said_mutex_);
      last_words = fmt::format("{}: {}", options_.at.text(), ec.message());
    }
    try_again_later();
  };
  if (options_.at.is_unix)
    connect_to<asio::local::stream_protocol>(context_, options_.at.path, std::move(done));
  else
    connect_to<asio::ip::tcp>(context_, {asio::ip::make_address(options_.at.path), options_.at.port},
                              std::move(done));
}

void client::link::try_again_later() {
  pause_ = std::min(std::max(2 * pause_, std::chrono::milliseconds(5)), std::chrono::milliseconds(500));
  again_.expires_after(pause_);
  again_.async_wait([this](error_code ec) {
    if (!ec && !stopped_ && state_ == state::connecting) connect();
  });
}

void client::link::on_connected(stream_socket socket) {
  auto const& name = options_.server_name.empty() ? options_.at.path : options_.server_name;
  stream_ = tls_ ? make_tls_transport(std::move(socket), *tls_, false, name)
                 : make_plain_transport(std::move(socket));
  ++stream_number_;
  in_ = frame_reader(options_.max_frame_bytes);
  out_.clear();
  waits_for_room_ = false;
  state_ = state::greeting;
  auto& b = frame_builder();
  auto const token = b.CreateString(options_.token);
  auto const program = b.CreateString(options_.program);
  write(request_frame(b, next_id_++, wire::Createhello(b, wire::protocol_version, session_, token, program)));
  read();
}

void client::link::on_welcome(wire::welcome const& w) {
  {
    std::lock_guard lock(said_mutex_);
    ++connections;
    if (w.service() != nullptr) service_name = w.service()->str();
  }
  bool const same = incarnation_ == w.incarnation();
  incarnation_ = w.incarnation();
  state_ = state::ready;
  pause_ = {};
  if (!same)
    end_those([](item const& i) { return i.sent; }, errc::outcome_unknown,
              "the service was restarted, or another one answers there now");
  sent_up_to_ = 0;
  pump();
}

/// The service refuses the client, and would refuse it again: completes all requests.
void client::link::refused(std::string const& why) {
  {
    std::lock_guard lock(said_mutex_);
    last_words = why;
  }
  state_ = state::idle;
  if (stream_) stream_->close();
  stream_.reset();
  ++stream_number_;
  end_those([](item const&) { return true; }, errc::service_refuses, why);
}

/// The connection is lost. Requests that can be resent wait for the next one.
void client::link::lost(std::string why) {
  if (state_ == state::idle) return;
  if (auto const refusal = stream_ ? stream_->refusal() : std::string(); !refusal.empty())
    return refused(fmt::format("{}: {}", options_.at.text(), refusal));
  {
    std::lock_guard lock(said_mutex_);
    if (state_ == state::ready || last_words.empty()) last_words = why;
  }
  bool const was_ready = state_ == state::ready;
  if (stream_) stream_->close();
  stream_.reset();
  ++stream_number_;
  end_those([](item const& i) { return i.sent && !i.is_send(); }, errc::outcome_unknown, why);
  if (open_.empty()) {
    state_ = state::idle;
    return;
  }
  if (was_ready) apart_since_ = clock::now();
  state_ = state::connecting;
  try_again_later();
  arm_timer(apart_since_ + options_.connect_timeout);
}

// -- frames

/// Sends open requests, but not so far ahead of the oldest one that the service would have to remember too many
/// outcomes.
void client::link::pump() {
  if (state_ != state::ready || open_.empty()) return;
  auto const end = open_.begin()->first + key_window;
  for (auto i = open_.upper_bound(sent_up_to_); i != open_.end() && i->first < end; ++i) {
    send_item(i->first, i->second);
    sent_up_to_ = i->first;
  }
}

void client::link::send_item(std::uint64_t id, item& i) {
  i.sent = true;
  if (!i.is_send()) {
    auto* const r =
        const_cast<wire::request*>(flatbuffers::GetSizePrefixedRoot<wire::request>(i.frame.data()));
    reinterpret_cast<flatbuffers::Table*>(r)->SetField<std::uint64_t>(wire::request::VT_ID, id, 0);
    return write(i.frame);
  }
  auto const settled = open_.begin()->first;
  auto& b = frame_builder();
  auto const name =
      i.to.name.empty() ? flatbuffers::Offset<flatbuffers::String>() : b.CreateString(i.to.name);
  auto const payload =
      b.CreateVector(reinterpret_cast<std::uint8_t const*>(i.payload.data()), i.payload.size());
  wire::actor_name const actor{i.to.id.index, i.to.id.generation};
  write(request_frame(b, id,
                      wire::Createsend(b, i.to.name.empty() ? &actor : nullptr, name, i.type,
                                       i.options.priority, i.options.wants_reply, i.options.wait_for_room,
                                       deadline_us(i.deadline), id, settled, payload, i.options.trace)));
}

void client::link::write(std::span<std::byte const> frame) {
  out_.insert(out_.end(), frame.begin(), frame.end());
  if (waits_for_room_ || flush_posted_) return;
  flush_posted_ = true;  // after everything submitted so far
  asio::post(context_, [this] {
    flush_posted_ = false;
    flush();
  });
}

void client::link::flush() {
  if (!stream_ || out_.empty()) return;
  error_code ec;
  auto const n = stream_->write(out_, ec);
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(n));
  if (out_.empty()) return;
  if (ec != asio::error::would_block) return lost(ec.message());
  waits_for_room_ = true;
  stream_->async_writable([this, number = stream_number_](error_code failed) {
    if (number != stream_number_) return;
    waits_for_room_ = false;
    failed ? lost(failed.message()) : flush();
  });
}

void client::link::read() {
  stream_->async_readable([this, number = stream_number_](error_code ec) {
    if (number != stream_number_ || stopped_) return;
    if (ec) return lost(ec.message());
    auto const room = in_.room(16 * 1024);
    auto const n = stream_->read(room, ec);
    if (ec && ec != asio::error::would_block)
      return lost(ec == asio::error::eof ? "the service closed the connection" : ec.message());
    in_.came(n);
    for (;;) {
      std::span<std::byte const> frame;
      auto const came = in_.next(frame);
      if (came == frame_reader::state::too_large)
        return lost(state_ == state::ready
                        ? fmt::format("the answer has {} bytes; this client accepts {} (max_frame_bytes)",
                                      in_.refused_bytes(), options_.max_frame_bytes)
                        : "the answer is not a frame of Rondo's protocol; does the service use TLS?");
      if (came == frame_reader::state::more) break;
      on_response(frame);
      if (number != stream_number_) return;
    }
    pump();
    read();
  });
}

void client::link::on_response(std::span<std::byte const> frame) {
  auto const* const r = verified<wire::response>(frame);
  if (r == nullptr || r->body() == nullptr) return lost("the service sent a frame that is not a response");
  auto const* const outcome = r->body_as_outcome();
  auto const words =
      outcome != nullptr && outcome->reason() != nullptr ? outcome->reason()->str() : std::string();
  if (r->id() == 0) {
    // The service is about to close the connection, and says why.
    auto const status = outcome != nullptr ? static_cast<errc>(outcome->status()) : errc::peer_gone;
    if (status == errc::stopped) {
      std::lock_guard lock(said_mutex_);
      last_words = words;
      return;
    }
    return refused(words);
  }
  if (auto const* const w = r->body_as_welcome(); w != nullptr && state_ == state::greeting)
    return on_welcome(*w);
  auto const at = open_.find(r->id());
  if (at == open_.end()) return;  // it has already completed, for example timed out
  auto i = std::move(at->second);
  open_.erase(at);
  count_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a statistic
  if (!words.empty()) {
    std::lock_guard lock(said_mutex_);
    last_words = words;
  }
  if (!i.is_send()) return i.on_response({{}, words, {frame.begin(), frame.end()}});
  answer a;
  a.reason = outcome != nullptr ? static_cast<errc>(outcome->status()) : errc::unknown_message;
  if (outcome != nullptr && outcome->payload() != nullptr &&
      outcome->payload()->size() <= max_payload_bytes) {
    a.body.header.type = outcome->type();
    a.body.bytes = outcome->payload()->size();
    std::copy_n(reinterpret_cast<std::byte const*>(outcome->payload()->data()), a.body.bytes, a.body.payload);
  }
  deliver(context_.get_executor(), std::move(i.on_answer), a);
}

// -- endings

void client::link::end(item i, errc reason, std::string const& why) {
  count_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a statistic
  if (!i.is_send()) return i.on_response({reason, why, {}});
  deliver_later(context_.get_executor(), std::move(i.on_answer), answer{reason, {}});
}

template <class Which>
void client::link::end_those(Which which, errc reason, std::string const& why) {
  std::vector<item> ended;
  for (auto i = open_.begin(); i != open_.end();) {
    if (!which(i->second)) {
      ++i;
      continue;
    }
    ended.push_back(std::move(i->second));
    i = open_.erase(i);
  }
  for (auto& i : ended) end(std::move(i), reason, why);
}

void client::link::look_at_time() {
  auto const now = clock::now();
  bool const is_apart = state_ != state::ready && state_ != state::idle;
  std::string why = said([](link const& l) { return l.last_words; });
  if (why.empty())
    why = fmt::format("{}: {}", options_.at.text(),
                      state_ == state::greeting ? "it accepts connections, but does not answer"
                                                : "no connection within the time limit");
  end_those([&](item const& i) { return i.until <= now; }, errc::timed_out,
            is_apart ? why : "its deadline has passed");
  if (is_apart && now - apart_since_ >= options_.connect_timeout) {
    end_those([](item const& i) { return i.sent; }, errc::outcome_unknown, why);
    end_those([](item const&) { return true; }, errc::peer_gone, why);
    state_ = state::idle;
    again_.cancel();
    if (stream_) stream_->close();
    stream_.reset();
    ++stream_number_;
  }
  auto next = clock::time_point::max();
  for (auto const& [id, i] : open_) next = std::min(next, i.until);
  if (state_ != state::ready && state_ != state::idle)
    next = std::min(next, apart_since_ + options_.connect_timeout);
  arm_timer(next);
  pump();
}

/// Schedules look_at_time for `when`, unless it is scheduled earlier.
void client::link::arm_timer(clock::time_point when) {
  if (when == clock::time_point::max() || (timer_armed_ && deadline_.expiry() <= when)) return;
  timer_armed_ = true;
  deadline_.expires_at(when);
  deadline_.async_wait([this](error_code ec) {
    if (ec || stopped_) return;
    timer_armed_ = false;
    look_at_time();
  });
}

}  // namespace rondo::service
