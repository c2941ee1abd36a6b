// The servers that the setting `nats` names: nats://HOST:PORT or tls://HOST:PORT, several separated by commas.
//
//   [nats:// or tls://] [USER:PASSWORD@ or TOKEN@] HOST [:PORT]
//
// PORT is 4222 by default. tls:// requires TLS: nothing, and no password, is sent to a server without it. All servers
// of a list have the same scheme, because a connection uses TLS with each of them or with none.
#pragma once

#include <string>
#include <vector>

#include "runtime/text/config_error.hpp"

namespace rondo::service {

struct nats_servers {
  std::vector<std::string> urls;  // as cnats takes them
  bool tls = false;
  std::string shown;  // the same for messages, without passwords
};

/// Throws config_error for text that is not such a list. The message has no password in it.
nats_servers parse_nats_servers(std::string const& text);

}  // namespace rondo::service
