// A nats-server for one test: on a free port of the loopback device, with JetStream in a directory that is removed with
// it.
//
// The server ends with the object, and with the test's process, however the process ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/scratch_directory.hpp"

namespace rondo_test {

class nats_server {
 public:
  /// Returns when the server accepts connections. Throws std::runtime_error with the server's output if it does not.
  explicit nats_server(std::string const& name, std::vector<std::string> const& more = {});
  ~nats_server();
  nats_server(nats_server const&) = delete;
  nats_server& operator=(nats_server const&) = delete;

  std::string url() const;
  /// Kills the server, like a crash.
  void kill();
  /// Restarts it on the same port, with its stored data. `more` are further arguments.
  void start(std::vector<std::string> const& more = {});

 private:
  void read_until_ready();

  scratch_directory directory_;
  pid_t pid_ = -1;
  int log_ = -1;  // the server's output; read until it is ready
  int port_ = -1;
};

/// A port of 127.0.0.1 where nobody listens.
std::uint16_t free_port();
/// The url of such a port.
std::string url_of_nobody();

}  // namespace rondo_test
