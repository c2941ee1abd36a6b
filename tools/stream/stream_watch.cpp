#include "tools/stream/stream_watch.hpp"

#include <fmt/format.h>

#include "runtime/service/monitor/metrics.hpp"
#include "runtime/service/monitor/report.hpp"
#include "runtime/service/net/descriptor_shares.hpp"
#include "runtime/text/to_stderr.hpp"

namespace rondo::tools {

stream_watch::stream_watch(runtime& rt, std::vector<std::string> const& listen, std::string const& metrics) {
  config_.name = "stream";
  config_.metrics = metrics;
  config_.listen.clear();
  for (auto const& e : listen) config_.listen.push_back(endpoint::parse(e, "--listen"));
  service::check_service_config(config_);
  service_.emplace(rt, config_, std::vector<std::span<std::byte const>>{});
  if (!metrics.empty()) {
    auto const where = service::metrics_endpoint(config_);
    http_.emplace(
        io_.get_executor(), work_.get_executor(),
        boost::asio::ip::tcp::endpoint(boost::asio::ip::make_address(where.path), where.port),
        service::monitoring_routes([this] { return service::to_metrics(service_->watcher().gather()); },
                                   [] { return std::string(); }, [] { return std::string(); }),
        service::http_options{.connections = service::http_descriptors(service::descriptor_limit())});
    to_stderr(fmt::format("metrics at http://{}:{}/metrics\n", where.path, http_->port()));
  }
  if (listen.empty()) return;
  service_->start();
  for (auto const& e : service_->listens_at())
    to_stderr(fmt::format("to watch it: rondo top --at {}\n", e.text()));
}

stream_watch::~stream_watch() {
  if (http_) http_->stop();
  io_.join();
  work_.join();
  if (!config_.listen.empty()) service_->stop();
}

}  // namespace rondo::tools
