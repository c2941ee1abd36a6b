// The configuration of a service: one JSON object, of which `runtime` is the configuration of runtime/base/config.hpp.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/config.hpp"
#include "runtime/base/listed_actor.hpp"
#include "runtime/service/net/access.hpp"
#include "runtime/service/net/endpoint.hpp"

namespace rondo::service {

/// What a client may do at most, and how long it may take.
struct client_limits {
  std::uint32_t clients = 1100;           // connections at once
  std::uint32_t open_requests = 128;      // of one connection; beyond them it is not read
  std::uint32_t frame_bytes = 64 * 1024;  // of a request
  std::uint32_t requests_per_second = 0;  // of one connection; beyond them it is not read; 0: any number
  std::uint64_t response_bytes =
      64 << 20;                     // that all clients together leave untaken; beyond them those who do wait
  std::uint32_t actors = 10'000;    // that live, launched by one peer: a user, or an address
  std::uint32_t capacity = 65'536;  // messages, of a mailbox that a client launches
  std::chrono::milliseconds hello{5'000};     // until its first request
  std::chrono::milliseconds frame{10'000};    // from a frame's first byte to its last
  std::chrono::milliseconds reading{10'000};  // in which it takes nothing of what waits for it
  bool operator==(client_limits const&) const = default;
};

struct actor_entry {
  std::string name;
  std::string behaviour;  // qualified, or its last part where that names one alone
  actor_options options{};
  bool durable = false;  // its messages may come through a stream of NATS, each handled exactly once
};

struct service_config {
  std::string name = "rondo";
  std::vector<endpoint> listen;  // empty: default_socket(name)
  std::filesystem::path token_file, tls_certificate, tls_key;
  struct token_entry {
    std::filesystem::path file;
    access allows;
  };
  std::vector<token_entry> tokens;  // besides token_file, whose word allows everything
  client_limits limits;
  std::chrono::milliseconds drain{5'000};  // at the end: how long open requests may take
  std::string metrics;                     // HOST:PORT for /metrics, /healthz and /readyz; empty: none
  std::filesystem::path checkpoint;        // restored at the start where it exists, written at the end
  std::chrono::seconds checkpoint_every{0};
  std::filesystem::path recording;              // a new file, for `replay`; empty: none
  std::string nats;                             // nats://...; empty: none
  std::chrono::milliseconds nats_wait{10'000};  // for its server, at the start
  std::vector<actor_entry> actors;
  rondo::config runtime = default_runtime();

  /// Many clients ask at once.
  static rondo::config default_runtime() {
    rondo::config c;
    c.asks = 65'536;
    c.default_capacity = 1024;
    c.guest_teams = 1;  // the network thread
    return c;
  }
};

/// Reads a file. Throws config_error, which names file, field, what was found and what would do.
service_config load_service_config(std::filesystem::path const& file);
/// The same from text; `origin` stands for the file in errors.
service_config parse_service_config(std::string const& text, std::string const& origin);

/// Whether its parts fit together, also those that came from a command line. Throws config_error.
void check_service_config(service_config const& c);

/// What can be set, a line or two for each: for --help.
std::string describe_service_config();

}  // namespace rondo::service
