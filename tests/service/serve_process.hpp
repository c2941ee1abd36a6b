// A real `rondo serve` process, in a directory that outlives it: socket, configuration and checkpoint.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/service/service_config.hpp"

namespace rondo_test {

class serve_process {
 public:
  /// Starts it with this configuration file without waiting. Throws std::runtime_error.
  explicit serve_process(std::filesystem::path const& config, std::vector<std::string> more = {});
  /// Kills the process if it is still running.
  ~serve_process();
  serve_process(serve_process const&) = delete;
  serve_process& operator=(serve_process const&) = delete;

  /// Waits until it reports that it is ready; false if it ends before that, or takes half a minute.
  bool wait_ready();
  pid_t pid() const noexcept { return pid_; }
  /// Sends the signal and waits for its end. Returns the status of waitpid.
  int end(int signal);
  /// Stops it with SIGSTOP; none of its threads continues. False if it has ended instead.
  bool stop();
  /// Waits for its end. Kills it if it has said nothing for a minute.
  int wait();
  /// The bytes of memory that it uses.
  std::size_t resident_bytes() const;
  /// Reads its log so far, so that it need not wait for that.
  void listen() {
    while (read(0)) continue;
  }
  /// Fills the pipe of its log, as if nobody read it.
  void stuff_log() const;
  /// Its log so far; complete after its end.
  std::string const& log() const noexcept { return log_; }

 private:
  bool read(int timeout_ms);

  pid_t pid_ = -1;
  int said_ = -1;
  bool silent_ = false;  // it has closed its log, and thus ended
  std::string log_;
};

/// Writes a configuration for the built-in module on two threads, and returns its file; `nats` may be empty, `more`
/// contains further fields.
std::filesystem::path write_config(std::filesystem::path const& folder, std::string const& name,
                                   std::string const& nats, std::string const& more);
/// The address on which such a service listens.
rondo::endpoint socket_of(std::filesystem::path const& folder, std::string const& name);

}  // namespace rondo_test
