// The socket of a service if nothing else is said: where it listens, and clients connect.
#pragma once

#include <string>

#include "runtime/net/endpoint.hpp"

namespace rondo::service {

/// Whether a service may have this name, which becomes part of paths and of NATS subjects.
bool is_service_name(std::string const& name);
inline constexpr char const* service_name_rule = "must consist of letters, digits, _ and -";  // for errors

/// The default socket of a service with this name: in $XDG_RUNTIME_DIR, or else in a folder in /tmp that only its owner
/// can enter. Throws config_error if that folder belongs to another user.
endpoint default_socket(std::string const& name);
/// Makes the folder of `at`, for this user alone, if it is that of the default sockets and does not exist. Throws
/// std::system_error.
void make_default_socket_folder(endpoint const& at);

}  // namespace rondo::service
