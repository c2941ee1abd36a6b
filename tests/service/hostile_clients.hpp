// All hostile clients of a service in one place, for the soak: those without a token, and those whose token is good but who take all
// that it lets them have. A new kind of hostile client is a class in hostile_clients.cpp and a line in its list.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/service/service_config.hpp"

namespace rondo_test {

/// What they know of the service.
struct hostile_target {
  rondo::service::endpoint port;     // with TLS
  rondo::service::endpoint metrics;  // HTTP
  std::string token;                 // that allows everything but `admin`
};

class hostile_client {
 public:
  virtual ~hostile_client() = default;
  /// Does one thing, which takes seconds at most. May throw: the service has hung up, and the client begins again.
  virtual void act(std::mt19937_64& random) = 0;
  /// Whether the service has refused something because this client has filled its table. True for clients that fill none.
  virtual bool has_filled() const { return true; }
};

struct named_hostile_client {
  char const* name;
  std::unique_ptr<hostile_client> it;
};

/// One of each kind. Each is used by one thread at a time.
std::vector<named_hostile_client> hostile_clients(hostile_target const& at, std::uint64_t seed);

}  // namespace rondo_test
