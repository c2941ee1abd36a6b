// A connected socket, on a path or on a port, and who is at its other end.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <string>

namespace rondo {

using stream_socket = boost::asio::generic::stream_protocol::socket;

/// The other end of a connection.
struct client_address {
  std::string text;       // in words: process 12 of user 1000; 192.0.2.1:4711
  std::string peer;       // clients with the same peer share limits: user 1000; 192.0.2.1
  bool is_local = false;  // on a Unix socket
};

}  // namespace rondo
