// The bytes of one connection: a stream socket, plain or with TLS on it.
//
// Never blocks: what cannot be done now says would_block, and `async_readable` or `async_writable` tell when to try again.
// Threads: those two and `close` on the socket's own thread; `read` and `write` one at a time, `write` of a plain socket beside
// them (its owner's lock decides).
#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "runtime/base/errc.hpp"

namespace rondo::service {

class epoll_reactor;
using stream_socket = boost::asio::generic::stream_protocol::socket;

/// Who is at the other end.
struct client_address {
  std::string text;       // process 12 of user 1000; 192.0.2.1:4711
  std::string peer;       // who shares limits with it: user 1000; 192.0.2.1
  bool is_local = false;  // a Unix socket's
};

class transport {
 public:
  virtual ~transport() = default;
  /// Bytes that were read; 0 and an error: would_block, eof, or why the connection has ended.
  virtual std::size_t read(std::span<std::byte> into, error_code& ec) = 0;
  /// Bytes that were taken; fewer than all with would_block.
  virtual std::size_t write(std::span<std::byte const> bytes, error_code& ec) = 0;
  using ready_handler = boost::asio::any_completion_handler<void(error_code)>;
  virtual void async_readable(ready_handler ready) = 0;
  virtual void async_writable(ready_handler ready) = 0;
  /// Whether the peer has gone, or will send no more; also while nothing is read.
  virtual bool hung_up() const noexcept = 0;
  /// Why nothing can be said to the peer, now or later: TLS does not trust it. Empty: it can, or has just gone.
  virtual std::string refusal() const { return {}; }
  /// Waits that are pending end with operation_aborted.
  virtual void close() noexcept = 0;
  /// `write` may be called from any thread, one at a time, while the owner's reads.
  virtual bool writes_from_any_thread() const noexcept = 0;
};

/// Takes over a connected socket.
std::unique_ptr<transport> make_plain_transport(stream_socket socket);
/// The same for one of many: `all` tells when it is readable, and outlives `close`.
std::unique_ptr<transport> make_plain_transport(stream_socket socket, epoll_reactor& all);
/// With TLS on it; the handshake is done by the first reads and writes. `context` outlives it.
std::unique_ptr<transport> make_tls_transport(stream_socket socket, boost::asio::ssl::context& context,
                                              bool is_server, std::string const& server_name = {});

}  // namespace rondo::service
