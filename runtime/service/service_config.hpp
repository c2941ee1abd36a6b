// The configuration of a service: one JSON object. Its field `runtime` is the configuration of runtime/base/config.hpp.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/config.hpp"
#include "runtime/base/listed_actor.hpp"
#include "runtime/service/net/access.hpp"
#include "runtime/service/net/default_socket.hpp"

namespace rondo::service {

/// Limits on what a client may do and how long it may take.
struct client_limits {
  std::uint32_t clients = 2200;           // connections at once
  std::uint32_t open_requests = 128;      // per connection; it is not read beyond them
  std::uint32_t frame_bytes = 64 * 1024;  // of a request
  std::uint32_t requests_per_second = 0;  // per connection; it is not read faster; 0: unlimited
  std::uint64_t response_bytes =
      64 << 20;                   // unread by all clients together; beyond it, clients with unread ones wait
  std::uint32_t actors = 10'000;  // live ones launched by one peer: a user, or an address
  std::uint32_t keys = 131'072;   // of messages that must not be handled twice, remembered at once
  std::uint32_t capacity = 65'536;            // of a mailbox that a client launches, in messages
  std::chrono::milliseconds hello{5'000};     // until the first request
  std::chrono::milliseconds frame{10'000};    // from a frame's first byte to its last
  std::chrono::milliseconds reading{10'000};  // during which it reads none of its responses
  bool operator==(client_limits const&) const = default;
};

/// An actor that the service launches.
struct actor_entry {
  std::string name;         // unique
  std::string behaviour;    // qualified, or its last part where that is unambiguous
  actor_options options{};  // how it is launched
  bool durable = false;     // takes messages from a NATS stream, each handled exactly once
};

struct service_config {
  std::string name = "rondo";             // part of its default socket and of NATS subjects
  std::vector<endpoint> listen;           // empty: default_socket(name)
  std::filesystem::path token_file;       // of a token that allows everything; empty: none
  std::filesystem::path tls_certificate;  // PEM file; empty: no TLS
  std::filesystem::path tls_key;          // PEM file
  /// A token in a file.
  struct token_entry {
    std::filesystem::path file;  // that holds the word
    access allows;               // to its clients
  };
  std::vector<token_entry> tokens;               // in addition to token_file, which allows everything
  client_limits limits;                          // for its clients
  std::chrono::milliseconds drain{5'000};        // when stopping: time to answer open requests
  std::chrono::milliseconds stop_limit{25'000};  // for the whole stop; half of it is for the checkpoint
  std::string metrics;                       // ADDRESS:PORT for /metrics, /healthz and /readyz; empty: none
  std::filesystem::path checkpoint;          // restored at start if it exists, written when stopping
  std::chrono::seconds checkpoint_every{0};  // 0: only when stopping
  std::filesystem::path recording;           // a new file, for `replay`; empty: none
  std::string nats;                          // nats://...; empty: none
  std::chrono::milliseconds nats_wait{10'000};  // for its server, at start
  std::vector<actor_entry> actors;              // launched at start, unless they exist
  rondo::config runtime = default_runtime();    // of its runtime

  /// Settings for many clients that ask at once.
  static rondo::config default_runtime() {
    rondo::config c;
    c.asks = 65'536;
    c.default_capacity = 1024;
    c.guest_teams = 1;  // the network thread
    return c;
  }
};

/// Reads a file. Throws config_error, which names the file, the field, what was found and what was expected.
service_config load_service_config(std::filesystem::path const& file);
/// The same from text; errors name `origin` instead of the file.
service_config parse_service_config(std::string const& text, std::string const& origin);

/// Checks that the settings, including those from a command line, fit together. Throws config_error.
void check_service_config(service_config const& c);
/// The address of `metrics`, which is not empty. Throws config_error.
endpoint metrics_endpoint(service_config const& c);

/// All settings with their defaults, those of `runtime` too, a line or two for each, for --help.
std::string describe_service_config();

}  // namespace rondo::service
