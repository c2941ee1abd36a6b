// The fixtures of the NATS tests: a server, with a link to it or with services that connect to it.
#pragma once

#include <chrono>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <thread>

#include "runtime/nats/nats_link.hpp"
#include "tests/catch.hpp"
#include "tests/nats/inbox.hpp"
#include "tests/nats/nats_server.hpp"
#include "tests/service/serve_process.hpp"

namespace rondo_test {

using namespace std::chrono_literals;

/// The time limit for events that follow soon, on a busy machine.
// Longer than ack_wait (30 s): only then is a message redelivered whose acknowledgement was lost with the server.
constexpr auto patience = 120s;

/// Waits until `holds()`. False if it does not within `patience`.
template <class Condition>
bool eventually(Condition holds) {
  auto const end = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

/// A server, and a link to it.
struct linked {
  explicit linked(std::string const& name, rondo::service::nats_link_options options = {})
      : server(name), link(with_url(std::move(options))) {}

  nats_server server;
  rondo::service::nats_link link;

 private:
  rondo::service::nats_link_options with_url(rondo::service::nats_link_options options) const {
    options.url = server.url();
    return options;
  }
};

/// A server, and a directory for the services that connect to it.
struct nats_site {
  explicit nats_site(std::string const& name) : server(name), folder("nats-" + name) {}
  /// The configuration of such a service: see serve_process.hpp.
  std::filesystem::path config(std::string const& name, std::string const& more) const {
    return write_config(folder.directory, name, server.url(), more);
  }
  rondo::endpoint socket_of(std::string const& name) const {
    return rondo_test::socket_of(folder.directory, name);
  }

  nats_server server;
  scratch_directory folder;
};

/// The text of the error that a call throws.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (rondo::service::nats_error const& e) {
    return e.what();
  }
  return "accepted";
}

/// A message's struct in the form in which NATS carries it.
template <class Message>
std::span<std::byte const> bytes(Message const& m) {
  return std::as_bytes(std::span(&m, 1));
}
template <class Message>
Message as(rondo::service::nats_message const& m) {
  REQUIRE(m.payload().size() == sizeof(Message));
  Message out{};
  std::memcpy(&out, m.payload().data(), sizeof out);
  return out;
}

}  // namespace rondo_test
