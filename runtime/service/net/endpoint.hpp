// Where a service listens.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/config_error.hpp"

namespace rondo::service {

/// Where a service listens: `unix:PATH`, or `tcp:HOST:PORT` with a numeric address.
struct endpoint {
  bool is_unix = true;
  std::string path;  // of a socket; or the host
  std::uint16_t port = 0;

  /// Throws config_error; its text begins with `origin`.
  static endpoint parse(std::string const& text, std::string const& origin);
  std::string text() const;
};

/// A service's name becomes part of paths, and of subjects of NATS.
bool is_service_name(std::string const& name);
inline constexpr char const* service_name_rule = "must be of letters, digits, _ and -";

/// The socket of a service of this name when nothing else is said: in $XDG_RUNTIME_DIR, else in a folder of /tmp that only
/// its owner may enter. Throws config_error when another user has made that one before.
endpoint default_socket(std::string const& name);

}  // namespace rondo::service
