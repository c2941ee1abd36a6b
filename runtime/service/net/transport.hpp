// The bytes of one connection: a stream socket, plain or with TLS.
//
// Never blocks: an operation that cannot be done now fails with would_block, and `async_readable` or `async_writable`
// report when to try again.
// Threads: those two and `close` on the socket's own thread; one `read` or `write` at a time. Only `write` of a plain
// socket may run at the same time as the others, on another thread; its owner's lock serialises writes.
#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "runtime/base/errc.hpp"
#include "runtime/net/stream_socket.hpp"

namespace rondo::service {

class epoll_reactor;

class transport {
 public:
  virtual ~transport() = default;
  /// Returns the number of bytes read; 0 and an error: would_block, eof, or why the connection failed. Whatever has
  /// arrived, a call takes a bounded part of it; a peer that keeps sending what contains no data fails with
  /// protocol_error.
  virtual std::size_t read(std::span<std::byte> into, error_code& ec) = 0;
  /// Returns the number of bytes written; fewer than all with an error, such as would_block.
  virtual std::size_t write(std::span<std::byte const> bytes, error_code& ec) = 0;
  using ready_handler = boost::asio::any_completion_handler<void(error_code)>;
  virtual void async_readable(ready_handler ready) = 0;
  virtual void async_writable(ready_handler ready) = 0;
  /// Whether the peer has gone or will send no more. Works also while nothing is read.
  virtual bool hung_up() const noexcept = 0;
  /// Why retrying is pointless: the peer's certificate is not trusted, it does not speak TLS, or it sends nothing else.
  /// Empty otherwise.
  virtual std::string refusal() const { return {}; }
  /// Pending waits complete with operation_aborted.
  virtual void close() noexcept = 0;
  /// Whether `write` may be called from any thread, one at a time, while the owner reads.
  virtual bool writes_from_any_thread() const noexcept = 0;
};

/// Takes over a connected socket.
std::unique_ptr<transport> make_plain_transport(stream_socket socket);
/// The same for one of many sockets: `all` reports when it is readable, and outlives `close`.
std::unique_ptr<transport> make_plain_transport(stream_socket socket, epoll_reactor& all);
/// With TLS. The first reads and writes do the handshake. It shares what it needs of `context`, which may be destroyed
/// before.
std::unique_ptr<transport> make_tls_transport(stream_socket socket, boost::asio::ssl::context& context,
                                              bool is_server, std::string const& server_name = {});

}  // namespace rondo::service
