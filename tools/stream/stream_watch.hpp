// Lets operators look at the graphs of `rondo stream`: a service for `rondo top`, and metrics for Prometheus.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/os/start_thread.hpp"
#include "runtime/runtime.hpp"
#include "runtime/service/monitor/http_server.hpp"
#include "runtime/service/service.hpp"

namespace rondo::tools {

class stream_watch {
 public:
  /// Begins. `listen`: endpoints for clients, such as unix:PATH; `metrics`: ADDRESS:PORT; empty: none. Says on stderr
  /// where. Throws config_error for what is malformed, and std::runtime_error for an address that is taken.
  stream_watch(runtime& rt, std::vector<std::string> const& listen, std::string const& metrics);
  ~stream_watch();

 private:
  service::service_config config_;
  std::optional<service::service> service_;
  static boost::asio::thread_pool one_thread() {
    return started("metrics", [] { return boost::asio::thread_pool(1); });
  }
  boost::asio::thread_pool io_ = one_thread(), work_ = one_thread();
  std::optional<service::http_server> http_;
};

}  // namespace rondo::tools
