// frame_sender's own thread: accepts clients and writes frames to them.
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstring>

#include "actors/streams/network/frame_readers.hpp"
#include "kernels/base/exceptions.hpp"

namespace rondo::streams {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

frame_header header_of(wire_kind kind) {
  frame_header h{};
  h.kind = static_cast<std::uint32_t>(kind);
  return h;
}

}  // namespace

void frame_sender::welcome(timed_socket::stream_socket socket, std::string who) {
  auto r = std::make_shared<reader>(std::move(socket), std::move(who));
  // If too many connections have sent no hello, the oldest is closed, so that they cannot keep readers out.
  if (entrance_->newcomers.size() >= options_.most_readers) {
    entrance_->newcomers.front()->socket->close();
    entrance_->newcomers.pop_front();
  }
  entrance_->newcomers.push_back(r);
  asio::co_spawn(network_, serve(r), [this, r](std::exception_ptr failure, std::string why) {
    if (failure)  // no memory
      call_caught([&] { std::rethrow_exception(failure); }, [&](char const* what) { why = what; });
    leave(r, why);
  });
}

/// Returns why it is over.
asio::awaitable<std::string> frame_sender::serve(reader_ptr r) {
  auto why = co_await greet(r);
  if (why.empty()) why = co_await send_frames(r);
  co_return why;
}

/// Returns why the client is no reader; empty: it has joined.
asio::awaitable<std::string> frame_sender::greet(reader_ptr r) {
  reader_hello hello;
  if (auto const ec = co_await r->socket->read(bytes_of(hello)); ec)
    co_return fmt::format("no greeting came: {}", ec.message());
  if (std::memcmp(hello.magic, wire_magic, sizeof wire_magic) != 0)
    co_return "what it sent is not the greeting of a reader of frames";
  asio::co_spawn(network_, watch(r), asio::detached);
  auto const why = join(r, hello);
  writer_hello answer{};
  std::memcpy(answer.magic, wire_magic, sizeof wire_magic);
  answer.version = wire_version;
  answer.refuses = why.empty() ? 0 : 1;
  answer.patience_ms = static_cast<std::uint32_t>(options_.patience.count());
  answer.terms = wire_terms::from(options_.terms);
  write_text(answer.reason, sizeof answer.reason, why);
  auto const ec = co_await r->socket->write(bytes_of(answer));
  if (!why.empty()) {
    r->socket->finish();  // and let it read the reason
    co_await hang_up(r, longest_hello);
    co_return why;
  }
  if (ec) co_return fmt::format("it cannot be answered: {}", ec.message());
  entrance_->newcomers.remove(r);
  r->socket->patience(options_.patience);
  co_return why;
}

/// Makes it a reader. Returns why not.
std::string frame_sender::join(reader_ptr const& r, reader_hello const& hello) {
  if (hello.version != wire_version)
    return fmt::format("the reader speaks version {} of the protocol, and the writer version {}",
                       hello.version, wire_version);
  if (hello.how > static_cast<std::uint32_t>(delivery::lossless))
    return fmt::format("the reader asks for delivery {}, which does not exist", hello.how);
  if (auto why = why_not(options_.terms, hello.terms.read()); !why.empty()) return why;
  r->how = static_cast<delivery>(hello.how);
  r->alive_every = alive_every(hello.patience_ms);
  std::unique_lock lock(mutex_);
  if (readers_.size() >= options_.most_readers)
    return fmt::format("the writer has {} readers, and takes no more", options_.most_readers);
  readers_.push_back(r);
  r->has_joined = true;
  ++counts_.joined;
  auto const number = readers_.size();
  stage_.notify(lock);
  say(fmt::format("{} reads, with delivery {}; readers: {}", r->who, name_of(r->how), number));
  return {};
}

/// Until the reader has gone, or has got everything. Returns what went wrong.
asio::awaitable<std::string> frame_sender::send_frames(reader_ptr r) {
  for (;;) {
    if (r->has_hung_up)
      co_return r->hung_up_by == asio::error::eof ? "it has closed the connection" : r->hung_up_by.message();
    bool is_over = false;
    frame_header header = header_of(wire_kind::alive);
    std::span<std::byte const> data;
    {
      std::unique_lock lock(mutex_);
      if (!r->queue.empty()) {
        r->sending = std::move(r->queue.front().frame);
        header = r->sending->header;
        header.first = r->queue.front().first;
        data = r->sending->bytes();
        r->queue.pop_front();
        stage_.notify(lock);
      } else {
        is_over = has_ended_;
      }
    }
    if (is_over) {
      co_await send_end(r);
      co_return "";
    }
    bool const is_idle = header.kind == static_cast<std::uint32_t>(wire_kind::alive);
    if (is_idle) {
      bool const has_changed = co_await r->wait(r->alive_every);
      if (has_changed) continue;
    }
    auto const ec = co_await r->socket->write(bytes_of(header), data);
    std::lock_guard const lock(mutex_);
    if (!is_idle) {
      r->sending.reset();
      ++(ec ? r->lost : r->passed);
      ++(ec ? counts_.lost : counts_.passed);
    }
    if (ec == asio::error::timed_out)
      co_return fmt::format("it has taken nothing for {} ms", options_.patience.count());
    if (ec && !r->has_hung_up) co_return ec.message();
  }
}

asio::awaitable<void> frame_sender::send_end(reader_ptr r) {
  frame_header end = header_of(wire_kind::end);
  {
    std::lock_guard const lock(mutex_);
    end.origin = next_;
    end.first = r->first.session == next_.session ? r->first.number : next_.number;
  }
  if (co_await r->socket->write(bytes_of(end))) co_return;
  r->socket->finish();
  // The reader closes the connection when it has read all. Closed from here, what is under way might be lost.
  co_await hang_up(r, longest_linger);
}

/// Waits until the reader has closed the connection, or for so long.
asio::awaitable<void> frame_sender::hang_up(reader_ptr r, std::chrono::milliseconds limit) {
  auto const end = std::chrono::steady_clock::now() + limit;
  while (!r->has_hung_up && std::chrono::steady_clock::now() < end) {
    auto const left = end - std::chrono::steady_clock::now();
    static_cast<void>(co_await r->wait(std::chrono::ceil<std::chrono::milliseconds>(left)));
  }
}

/// Listens to the reader, and notices when it is gone.
asio::awaitable<void> frame_sender::watch(reader_ptr r) {
  error_code ec;
  while (!ec) {
    ec = co_await r->socket->wait_for_alive();
    r->pause.expires_after(10ms);  // however much it says
    if (!ec) co_await r->pause.async_wait(as_result);
  }
  r->hung_up_by = ec;
  r->has_hung_up = true;
  r->socket->close();
  r->changed.cancel();
}

void frame_sender::leave(reader_ptr const& r, std::string const& why) {
  r->socket->close();
  entrance_->newcomers.remove(r);
  std::unique_lock lock(mutex_);
  if (!r->has_joined) {
    ++counts_.refused;
    lock.unlock();
    return say(fmt::format("{} was refused: {}", r->who, why));
  }
  r->lost += r->queue.size();
  counts_.lost += r->queue.size();
  r->queue.clear();
  readers_.remove(r);
  auto const line = fmt::format("{} has left{}{}; {} frames sent, {} lost; readers: {}", r->who,
                                why.empty() ? "" : ": ", why, r->passed, r->lost, readers_.size());
  all_left_.notify_all();
  stage_.notify(lock);
  say(line);
}

/// At most a few lines per second, because clients may connect at any rate.
void frame_sender::say(std::string const& line) {
  auto const now = std::chrono::steady_clock::now();
  auto const at = "network sink at " + where_.text();
  if (auto const left_out = entrance_->throttle.take_left_out(now); left_out != 0)
    write_line(options_.log, at, fmt::format("{} lines were left out", left_out));
  if (entrance_->throttle.admits(now)) write_line(options_.log, at, line);
}

}  // namespace rondo::streams
