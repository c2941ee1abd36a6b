#include "actors/streams/network/frame_receiver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <cstring>

#include "runtime/os/run_handlers.hpp"
#include "runtime/os/start_thread.hpp"

namespace rondo::streams {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto shortest_pause = 10ms, longest_pause = 1000ms;

asio::generic::stream_protocol::endpoint address_of(endpoint const& e) {
  if (e.is_unix) return asio::local::stream_protocol::endpoint(e.path);
  return asio::ip::tcp::endpoint(asio::ip::make_address(e.path), e.port);
}

}  // namespace

frame_receiver::frame_receiver(receiver_options options) : options_(std::move(options)) {
  asio::co_spawn(io_->network, run(), asio::detached);
  io_->thread = start_thread("a network source",
                             [this] { run_handlers(io_->network, [this](char const* what) { say(what); }); });
}

frame_receiver::~frame_receiver() {
  if (is_of_parent(io_)) return;
  io_->network.stop();
  io_->thread.join();
}

// -- the stage

received_frame const* frame_receiver::front() {
  std::unique_lock lock(mutex_);
  if (front_) return front_.get();
  while (!queue_.empty() && queue_.front()->is_end) {
    account(*queue_.front());
    queue_.pop_front();
    is_over_ = options_.follows_end;
  }
  if (queue_.empty()) {
    stage_.want();
    return nullptr;
  }
  front_ = std::move(queue_.front());
  queue_.pop_front();
  auto const* const f = front_.get();
  auto const line = account(*f);
  lock.unlock();
  if (!line.empty()) say(line);
  asio::post(io_->network, [this] { io_->room.cancel(); });
  return f;
}

void frame_receiver::pop() {
  std::lock_guard const lock(mutex_);
  free_.push_back(std::move(front_));
}

/// What comes before `f` and was not got is lost. Returns what is to be said of it. The caller holds the mutex.
std::string frame_receiver::account(received_frame const& f) {
  if (f.is_end && f.origin.session == 0) return {};  // a sender that has sent nothing
  auto const session = f.origin.session, number = f.origin.number;
  bool const is_new = session != next_.session;
  if (is_new) {
    next_.number = std::min(number, f.first);
    counts_.before += next_.number;
  }
  auto const missing = number - std::min(number, next_.number);
  counts_.lost += missing;
  next_ = {.session = session, .number = number};
  if (f.is_end) return {};
  ++next_.number;
  ++counts_.frames;
  counts_.sources += is_new;
  bool const reconnected = told_connection_ != 0 && told_connection_ != f.connection;
  told_connection_ = f.connection;
  auto const again = reconnected ? fmt::format("reconnected after {} ms; ", down_.count()) : std::string();
  if (is_new) return fmt::format("{}the first frame of this source is number {}", again, number);
  return reconnected ? fmt::format("{}{} frames lost", again, missing) : again;
}

bool frame_receiver::is_over() const {
  std::lock_guard const lock(mutex_);
  return is_over_;
}

std::uint64_t frame_receiver::take_lost() {
  std::lock_guard const lock(mutex_);
  return counts_.lost - std::exchange(taken_lost_, counts_.lost);
}

receiver_counts frame_receiver::counts() const {
  std::lock_guard const lock(mutex_);
  return counts_;
}

std::string frame_receiver::trouble() const {
  std::lock_guard const lock(mutex_);
  return trouble_;
}

// -- the socket's thread

asio::awaitable<void> frame_receiver::run() {
  auto pause = shortest_pause;
  std::string told;  // the same trouble again is not worth a line
  for (;;) {
    auto const socket =
        std::make_shared<timed_socket>(timed_socket::stream_socket(io_->network), longest_hello);
    auto const read_before = last_read_;
    std::string why;
    try {
      why = co_await connect(socket);
      if (why.empty()) why = co_await receive(socket);
    } catch (std::exception const& e) {  // no memory
      why = e.what();
    }
    socket->close();
    if (has_end()) co_return say("the sender has ended");
    if (read_before != last_read_) {
      pause = shortest_pause;
      told.clear();
    }
    if (why != told) say(fmt::format("not connected: {}; it tries again", why));
    told = why;
    {
      std::lock_guard const lock(mutex_);
      if (trouble_.empty() && counts_.connections != 0) broke_ = clock::now();
      trouble_ = std::move(why);
    }
    io_->pause.expires_after(pause);
    co_await io_->pause.async_wait(as_result);
    pause = std::min<std::chrono::milliseconds>(2 * pause, longest_pause);
  }
}

/// Whether nothing comes after what is in the queue.
bool frame_receiver::has_end() const {
  std::lock_guard const lock(mutex_);
  return options_.follows_end && (is_over_ || (!queue_.empty() && queue_.back()->is_end));
}

/// Returns why not; empty: frames will come.
asio::awaitable<std::string> frame_receiver::connect(std::shared_ptr<timed_socket> socket) {
  if (auto const ec = co_await socket->connect(address_of(options_.connect)); ec) co_return ec.message();
  reader_hello hello{};
  std::memcpy(hello.magic, wire_magic, sizeof wire_magic);
  hello.version = wire_version;
  hello.how = static_cast<std::uint32_t>(options_.how);
  hello.patience_ms = static_cast<std::uint32_t>(options_.patience.count());
  hello.terms = wire_terms::from(options_.terms);
  if (auto const ec = co_await socket->write(bytes_of(hello)); ec) co_return ec.message();
  writer_hello answer;
  if (auto const ec = co_await socket->read(bytes_of(answer)); ec)
    co_return fmt::format("the greeting was not answered: {}", ec.message());
  if (std::memcmp(answer.magic, wire_magic, sizeof wire_magic) != 0)
    co_return "what answers there is no network sink";
  if (answer.refuses != 0) co_return "refused: " + read_text(answer.reason, sizeof answer.reason);
  if (answer.version != wire_version)
    co_return fmt::format("the writer speaks version {} of the protocol, and the reader version {}",
                          answer.version, wire_version);
  auto why = why_not(answer.terms.read(), options_.terms);
  if (!why.empty()) co_return why;
  alive_every_ = alive_every(answer.patience_ms);
  socket->patience(options_.patience);
  say(fmt::format("connected, with delivery {}", name_of(options_.how)));
  std::lock_guard const lock(mutex_);
  ++counts_.connections;
  trouble_.clear();
  if (broke_) down_ = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - *broke_);
  co_return why;
}

/// Returns why no more frames come.
asio::awaitable<std::string> frame_receiver::receive(std::shared_ptr<timed_socket> socket) {
  auto const began = clock::now();
  std::uint64_t alive = 0;
  for (;;) {
    frame_header h;
    if (auto const ec = co_await socket->read(bytes_of(h)); ec) {
      if (ec == asio::error::eof) co_return "the sender has closed the connection";
      co_return ec.message();
    }
    if (auto const why = why_wrong(h); !why.empty()) co_return why;
    auto const kind = static_cast<wire_kind>(h.kind);
    if (kind == wire_kind::alive) {
      auto const most = 16 + static_cast<std::uint64_t>(2 * (clock::now() - began) / most_often_alive);
      if (++alive > most) co_return "the sender breaks the protocol: it says too often that it lives";
      continue;
    }
    frame_ptr f;  // g++ 12 destroys the wrong operand of `? :` with a co_await in it
    if (kind == wire_kind::end)
      f = std::make_unique<received_frame>();
    else
      f = co_await room(socket);
    f->is_end = kind == wire_kind::end;
    f->origin = h.origin;
    f->first = h.first;
    f->bytes = h.data_bytes;
    std::memcpy(f->about, h.about, sizeof f->about);
    if (kind == wire_kind::end) {
      deliver(std::move(f));
      co_return "the sender has ended";
    }
    if (auto const ec = co_await socket->read({f->data.get(), f->bytes}); ec) {
      std::lock_guard const lock(mutex_);
      free_.push_back(std::move(f));
      co_return fmt::format("a part of a frame is missing: {}", ec.message());
    }
    deliver(std::move(f));
  }
}

std::string frame_receiver::why_wrong(frame_header const& h) const {
  switch (static_cast<wire_kind>(h.kind)) {
    case wire_kind::alive:
    case wire_kind::end:
      return h.data_bytes == 0 ? "" : "the sender breaks the protocol";
    case wire_kind::frame:
      break;
    default:
      return fmt::format("the sender breaks the protocol: there is no message of kind {}", h.kind);
  }
  if (h.data_bytes > options_.terms.most_bytes || !options_.fits(h.about, h.data_bytes))
    return fmt::format("a frame of {} bytes came that is not like {}", h.data_bytes, options_.terms.text());
  return h.origin.session != 0 ? "" : "the sender breaks the protocol: a frame comes from nowhere";
}

/// A free buffer; with `lossless`, not before the queue has room.
asio::awaitable<frame_receiver::frame_ptr> frame_receiver::room(std::shared_ptr<timed_socket> socket) {
  for (;;) {
    {
      std::lock_guard const lock(mutex_);
      if (options_.how != delivery::lossless || queue_.size() < options_.capacity) {
        if (free_.empty()) break;
        auto f = std::move(free_.back());
        free_.pop_back();
        co_return f;
      }
    }
    io_->room.expires_after(alive_every_);
    if (auto const [cancelled] = co_await io_->room.async_wait(as_result); cancelled) continue;
    // If that fails, what the sender has sent can still be read.
    static_cast<void>(co_await socket->write({&wire_alive, 1}));
  }
  auto f = std::make_unique<received_frame>();
  f->data = std::make_unique_for_overwrite<std::byte[]>(options_.terms.most_bytes);
  co_return f;
}

void frame_receiver::deliver(frame_ptr f) {
  std::unique_lock lock(mutex_);
  f->connection = counts_.connections;
  if (!f->is_end) {
    bool const is_late = f->origin.session == last_read_.session && f->origin.number <= last_read_.number;
    bool const is_full = options_.how == delivery::every && queue_.size() >= options_.capacity;
    if (!is_late) last_read_ = f->origin;
    if (is_late || is_full) return free_.push_back(std::move(f));  // counted by the next one
    if (options_.how == delivery::latest && !queue_.empty() && !queue_.back()->is_end) {
      free_.push_back(std::move(queue_.back()));
      queue_.pop_back();
    }
  }
  queue_.push_back(std::move(f));
  stage_.notify(lock);
}

void frame_receiver::say(std::string const& line) const {
  write_line(options_.log, "network source from " + options_.connect.text(), line);
}

}  // namespace rondo::streams
