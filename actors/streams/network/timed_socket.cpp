#include "actors/streams/network/timed_socket.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>

#include "actors/streams/network/wire.hpp"

namespace rondo::streams {

namespace asio = boost::asio;

asio::awaitable<error_code> timed_socket::connect(asio::generic::stream_protocol::endpoint const& to) {
  begin();
  auto const [ec] = co_await socket_.async_connect(to, as_result);
  co_return outcome(ec);
}

asio::awaitable<error_code> timed_socket::read(std::span<std::byte> into) {
  begin();
  error_code failed;
  while (!failed && !into.empty()) {
    auto const [ec, bytes] =
        co_await socket_.async_read_some(asio::buffer(into.data(), into.size()), as_result);
    failed = ec;
    into = into.subspan(bytes);
    passed();
  }
  co_return outcome(failed);
}

asio::awaitable<error_code> timed_socket::write(std::span<std::byte const> first,
                                                std::span<std::byte const> then) {
  begin();
  error_code failed;
  while (!failed && first.size() + then.size() != 0) {
    std::array const both{asio::buffer(first.data(), first.size()), asio::buffer(then.data(), then.size())};
    auto const [ec, bytes] = co_await socket_.async_write_some(both, as_result);
    failed = ec;
    auto const of_first = std::min(bytes, first.size());
    first = first.subspan(of_first);
    then = then.subspan(bytes - of_first);
    passed();
  }
  co_return outcome(failed);
}

asio::awaitable<error_code> timed_socket::wait_for_alive() {
  std::array<std::byte, 64> said;
  auto const [ec, bytes] = co_await socket_.async_read_some(asio::buffer(said), as_result);
  if (ec) co_return ec;
  if (std::any_of(said.begin(), said.begin() + bytes, [](std::byte b) { return b != wire_alive; }))
    co_return make_error_code(boost::system::errc::protocol_error);
  passed();
  co_return error_code();
}

void timed_socket::finish() noexcept {
  error_code ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
}

void timed_socket::patience(std::chrono::milliseconds p) noexcept {
  patience_ = p;
  bytes_renew_it_ = true;
  timer_.cancel();  // and looks again
}

void timed_socket::close() noexcept {
  error_code ignored;
  is_closed_ = true;
  socket_.close(ignored);
  timer_.cancel();
}

void timed_socket::begin() {
  is_busy_ = true;
  progress_ = clock::now();
  if (!is_watched_ && patience_.count() != 0) watch();
}

error_code timed_socket::outcome(error_code ec) noexcept {
  is_busy_ = false;
  return ec && is_late_ ? asio::error::timed_out : ec;
}

/// One timer serves many operations: when it is over, it looks how long ago the last progress was.
void timed_socket::watch() {
  is_watched_ = true;
  timer_.expires_at(progress_ + patience_);
  timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    self->is_watched_ = false;
    if (!self->is_busy_ || self->is_closed_ || self->patience_.count() == 0) return;
    if (cancelled || clock::now() - self->progress_ < self->patience_) return self->watch();
    self->is_late_ = true;
    self->close();
  });
}

}  // namespace rondo::streams
