// A program with a graph, a service and its metrics on one runtime, for tests of what operators see. It prints the port
// of the metrics when it is ready, and ends when its standard input does.
//
//   watched_graph SOCKET
#include <boost/asio/thread_pool.hpp>
#include <cstdio>
#include <exception>

#include "runtime/service/monitor/http_server.hpp"
#include "runtime/service/monitor/metrics.hpp"
#include "runtime/service/monitor/report.hpp"
#include "runtime/service/service.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/streams/stages.hpp"

using namespace stream_test;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::invalid_argument("usage: watched_graph SOCKET");
  runtime rt{use<test_stages>, {.device = "cpu", .teams = 2}};
  service::service_config config;
  config.name = "studio";
  config.listen.push_back({true, argv[1], 0});
  service::service serves{rt, config, {}};
  // Each tick of `slow` is a slow one.
  streams::graph g{rt, {.name = "show", .rate = 100, .slow = std::chrono::microseconds(1)}};
  auto const from = g.add<counter>("from");
  auto const slow = g.add<adder>("slow", {.by = 1, .spins = 200'000});
  auto const to = g.add<checker>("to", {.added = 1});
  g.connect(from.out<"numbers">(), slow.in<"numbers">());
  g.connect(slow.out<"numbers">(), to.in<"numbers">(), {.how = streams::delivery::latest});
  g.start();
  serves.start();
  boost::asio::thread_pool io{1}, work{1};
  service::http_server monitor{
      io.get_executor(),
      work.get_executor(),
      {boost::asio::ip::address_v4::loopback(), 0},
      service::monitoring_routes([&] { return service::to_metrics(serves.watcher().gather()); },
                                 [] { return ""; }, [] { return ""; })};
  std::printf("ready on port %u\n", static_cast<unsigned>(monitor.port()));
  std::fflush(stdout);
  while (std::getchar() != EOF) continue;
  monitor.stop();
  io.join();
  work.join();
  serves.stop();
  return g.stop() ? 1 : 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "watched_graph: %s\n", e.what());
  return 1;
}
