// All hostile clients of a service in one place, for the soak: those without a token, and those whose token is good but
// who take all that it lets them have. A new kind of hostile client is a class in hostile_clients.cpp and a line in its
// list.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/service/net/quotas.hpp"
#include "runtime/service/service_config.hpp"

namespace rondo_test {

/// What they know of the service.
struct hostile_target {
  rondo::endpoint port;         // with TLS
  rondo::endpoint metrics;      // HTTP
  std::string token;            // that allows everything but `admin`
  std::string operating_token;  // of another peer, so that what some fill does not refuse the others
  std::size_t connections = 0;  // for which it has places
};

class hostile_client {
 public:
  virtual ~hostile_client() = default;
  /// Does one thing, which takes seconds at most. May throw std::runtime_error: the service has hung up, and the client
  /// begins again.
  virtual void act(std::mt19937_64& random) = 0;
};

struct named_hostile_client {
  char const* name;
  rondo::service::table fills;  // that all clients share: rondo_table_* of the metrics say whether it is full
  std::unique_ptr<hostile_client> it;
};

/// One that fills each table that clients with a token can fill, again and again. They need actors `clicks`, `silent`
/// with a large mailbox, and `full` with one message; the latter two are inactive. Each is used by one thread at a
/// time.
std::vector<named_hostile_client> table_fillers(hostile_target const& at, std::uint64_t seed);

/// These and all others.
struct hostile_crowd {
  std::vector<named_hostile_client> fillers;
  std::vector<std::pair<char const*, std::unique_ptr<hostile_client>>> others;
};
hostile_crowd hostile_clients(hostile_target const& at, std::uint64_t seed);

}  // namespace rondo_test
