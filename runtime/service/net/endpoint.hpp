// The address that a service listens on.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "runtime/text/config_error.hpp"

namespace rondo::service {

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

/// Whether a service may have this name, which becomes part of paths and of NATS subjects.
bool is_service_name(std::string const& name);
inline constexpr char const* service_name_rule = "must consist of letters, digits, _ and -";  // for errors

/// The default socket of a service with this name: in $XDG_RUNTIME_DIR, or else in a folder in /tmp that only its owner can
/// enter. Throws config_error if that folder belongs to another user.
endpoint default_socket(std::string const& name);
/// Whether the default sockets of this user lie in `folder`.
bool is_default_socket_folder(std::string const& folder);

}  // namespace rondo::service
