// A real `rondo serve` in a process of its own, in a directory that outlives it: socket, configuration and checkpoint.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/service/service_config.hpp"

namespace rondo_test {

class serve_process {
 public:
  /// Starts it with this configuration file and does not wait. Throws std::runtime_error.
  explicit serve_process(std::filesystem::path const& config, std::vector<std::string> more = {});
  /// Killed at the latest here.
  ~serve_process();
  serve_process(serve_process const&) = delete;
  serve_process& operator=(serve_process const&) = delete;

  /// Waits until it says that it is ready; false when it ends before that, or takes half a minute.
  bool wait_ready();
  /// Sends the signal, and waits for its end. Returns the status of waitpid.
  int end(int signal);
  /// Stops it with SIGSTOP: none of its threads runs any further. False when it has ended instead.
  bool stop();
  /// Waits for its end.
  int wait();
  /// Bytes of memory that it has in use.
  std::size_t resident_bytes() const;
  /// Takes what it has said by now, so that it need not wait for this.
  void listen() {
    while (read(0)) continue;
  }
  /// Fills the pipe of its log, as if nothing read it.
  void stuff_log() const;
  /// What it has said: all, after its end.
  std::string const& log() const noexcept { return log_; }

 private:
  bool read(int timeout_ms);

  pid_t pid_ = -1;
  int said_ = -1;
  bool silent_ = false;  // it has closed its log, and so ended
  std::string log_;
};

/// Writes a configuration for the built-in module on two threads, and returns its file; `nats` may be
/// empty, `more` are further fields.
std::filesystem::path write_config(std::filesystem::path const& folder, std::string const& name,
                                   std::string const& nats, std::string const& more);
/// Where such a service listens.
rondo::service::endpoint socket_of(std::filesystem::path const& folder, std::string const& name);

}  // namespace rondo_test
