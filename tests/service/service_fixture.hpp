// A service of the built-in module in this process, on a temporary socket.
#pragma once

#include "actors/basics/basics_module.hpp"
#include "runtime/service/client/client.hpp"
#include "runtime/service/service.hpp"
#include "tests/scratch_directory.hpp"

namespace rondo_test {

using namespace std::chrono_literals;
using rondo::errc;
namespace basics = rondo::basics;

/// Compiled once, in service_fixture.cpp, because a module is slow to compile.
std::unique_ptr<rondo::runtime> start_basics(rondo::config const& settings);

inline bool says(std::string const& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

inline rondo::service::service_config with_limits(rondo::service::client_limits const& l) {
  rondo::service::service_config c;
  c.limits = l;
  return c;
}

struct served {
  explicit served(rondo::service::service_config c = {})
      : config(with_socket(std::move(c))), rt(start_basics(config.runtime)) {
    start();
  }
  /// Restarts the service on the same runtime.
  void start() {
    it = std::make_unique<rondo::service::service>(*rt, config, std::vector<std::span<std::byte const>>{},
                                                   [this](std::string const& line) {
                                                     std::lock_guard lock(mutex);
                                                     lines.push_back(line);
                                                   });
    it->start();
  }
  rondo::service::client_options options() const { return {.at = it->listens_at().front()}; }
  std::string log() {
    std::lock_guard lock(mutex);
    std::string all;
    for (auto const& line : lines) all += line + "\n";
    return all;
  }

  scratch_directory folder{"service"};
  rondo::service::service_config config;
  std::mutex mutex;
  std::vector<std::string> lines;
  std::unique_ptr<rondo::runtime> rt;
  std::unique_ptr<rondo::service::service> it;

 private:
  rondo::service::service_config with_socket(rondo::service::service_config c) const {
    if (c.listen.empty()) c.listen.push_back({true, (folder.directory / "socket").string(), 0});
    c.runtime.device = "cpu";
    c.runtime.teams = 2;
    if (c.actors.empty()) c.actors = {{"clicks", "counter"}, {"store", "cell"}, {"mirror", "echo"}};
    return c;
  }
};

}  // namespace rondo_test
