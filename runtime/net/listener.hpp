// A socket that accepts connections, on a path or on a port.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

#include "runtime/net/endpoint.hpp"
#include "runtime/net/stream_socket.hpp"

namespace rondo {

/// Listens until it is destroyed. Threads: the network thread, or any thread while that one is not running.
class listener {
 public:
  using taker = std::function<void(stream_socket socket, client_address from)>;
  virtual ~listener() = default;
  /// The address, with the real port where 0 was given.
  virtual endpoint where() const = 0;
  /// Calls `take` with each connection, until this is destroyed.
  virtual void accept(taker take) = 0;
};

/// Only the owner can access a Unix socket. Its folder must exist. A socket that a dead process left there is removed.
/// Throws config_error if the folder is missing or not trusted, or a live process listens there; std::system_error if
/// the system refuses.
std::unique_ptr<listener> make_listener(boost::asio::io_context& network, endpoint const& at);

}  // namespace rondo
