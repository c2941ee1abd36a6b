// A socket that takes connections, on a path or on a port.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "runtime/service/net/endpoint.hpp"
#include "runtime/service/net/transport.hpp"

namespace rondo::service {

/// Listens from its construction to its end. Threads: the network thread, or none runs yet.
class listener {
 public:
  using taker = std::function<void(stream_socket socket, client_address from)>;
  virtual ~listener() = default;
  /// With the real port.
  virtual endpoint where() const = 0;
  /// Calls `take` with each connection, until it ends.
  virtual void accept(taker take) = 0;
};

/// A socket's path is its owner's alone, as is a folder that must be made for it; a socket that a dead process left there is
/// removed. Throws config_error when a living one listens there, std::system_error when the system refuses.
std::unique_ptr<listener> make_listener(boost::asio::io_context& network, endpoint const& at);

}  // namespace rondo::service
