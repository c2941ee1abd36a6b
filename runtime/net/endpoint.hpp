// An address to listen on, or to connect to.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "runtime/text/config_error.hpp"

namespace rondo {

/// `unix:PATH`, or `tcp:HOST:PORT` with a numeric address.
struct endpoint {
  bool is_unix = true;     // false: TCP
  std::string path;        // of the socket; or the host
  std::uint16_t port = 0;  // of TCP

  // Constructors, because an aggregate would take `{.at = "unix:..."}`, with the text's address as `is_unix`.
  endpoint() = default;
  /// All three fields.
  endpoint(bool unix_socket, std::string path_or_host, std::uint16_t tcp_port)
      : is_unix(unix_socket), path(std::move(path_or_host)), port(tcp_port) {}

  /// Throws config_error; its text begins with `origin`.
  static endpoint parse(std::string const& text, std::string const& origin);
  /// As `parse` reads it.
  std::string text() const;
};

}  // namespace rondo
