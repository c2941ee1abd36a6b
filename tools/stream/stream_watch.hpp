// Lets operators look at the graphs of `rondo stream`: a service for `rondo top`, and metrics for Prometheus.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/runtime.hpp"
#include "runtime/service/monitor/http_server.hpp"
#include "runtime/service/service.hpp"

namespace rondo::tools {

class stream_watch {
 public:
  /// Begins. `listen`: endpoints for clients, such as unix:PATH; `metrics`: ADDRESS:PORT; empty: none. Says on stderr where. Throws
  /// config_error for what is malformed, and std::runtime_error for an address that is taken.
  stream_watch(runtime& rt, std::vector<std::string> const& listen, std::string const& metrics);
  ~stream_watch();

 private:
  service::service_config config_;
  std::optional<service::service> service_;
  boost::asio::thread_pool io_{1}, work_{1};
  std::optional<service::http_server> http_;
};

}  // namespace rondo::tools
