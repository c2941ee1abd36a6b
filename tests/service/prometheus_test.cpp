// Checks metrics, alerts and dashboard with the programs that they are for. [promtool] and [prometheus] need that
// program.
#include <flatbuffers/idl.h>

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <regex>
#include <set>

#include "runtime/service/monitor/http_server.hpp"
#include "runtime/service/monitor/metrics.hpp"
#include "tests/service/prometheus_fixture.hpp"
#include "tests/service/report_samples.hpp"

using namespace service_test;
using Catch::Matchers::Contains;
using rondo::service::to_metrics;

namespace {

std::string const monitoring = RONDO_SOURCE_DIR "/docs/monitoring/";

/// Every expression of the dashboard, with a value for each of its variables.
std::vector<std::string> dashboard_expressions() {
  flatbuffers::Parser parser;
  flexbuffers::Builder tree;
  auto const text = text_of(monitoring + "rondo-dashboard.json");
  INFO(parser.error_);
  REQUIRE(parser.ParseFlexBuffer(text.c_str(), nullptr, &tree));
  std::vector<std::string> found;
  auto const panels = flexbuffers::GetRoot(tree.GetBuffer()).AsMap()["panels"].AsVector();
  for (std::size_t p = 0; p < panels.size(); ++p) {
    auto const targets = panels[p].AsMap()["targets"].AsVector();
    for (std::size_t t = 0; t < targets.size(); ++t) {
      auto e = targets[t].AsMap()["expr"].AsString().str();
      e = std::regex_replace(e, std::regex("\\$__rate_interval"), "1m");
      found.push_back(std::regex_replace(e, std::regex("\\$instance"), ".*"));
    }
  }
  return found;
}

}  // namespace

TEST_CASE("promtool accepts the metrics", "[metrics][promtool]") {
  rondo_test::scratch_directory const scratch("metrics");
  auto const file = (scratch.directory / "metrics").string();
  std::ofstream(file) << to_metrics(with_graph(sample_report()));
  auto const [status, said] = run("promtool check metrics <" + file);
  CHECK(status == 0);
  CHECK(said == "");
}

TEST_CASE("alerts are raised when they must be, and only then", "[metrics][promtool]") {
  auto const checked = run("promtool check rules " + monitoring + "rondo.rules.yml");
  INFO(checked.second);
  CHECK(checked.first == 0);
  auto const tested = run("promtool test rules " RONDO_SOURCE_DIR "/tests/service/rondo.rules_test.yml");
  INFO(tested.second);
  CHECK(tested.first == 0);
}

TEST_CASE("alerts and dashboard only use metrics that exist", "[metrics]") {
  auto const metrics = to_metrics(with_graph(sample_report()));
  auto asked = text_of(monitoring + "rondo.rules.yml");
  asked = std::regex_replace(asked, std::regex("description:.*|summary:.*|#.*"), "");
  auto const expressions = dashboard_expressions();
  CHECK(expressions.size() > 30);
  for (auto const& e : expressions) asked += e + "\n";
  std::regex const name("rondo_[a-z_]+");
  for (std::sregex_iterator at(asked.begin(), asked.end(), name), end; at != end; ++at) {
    INFO(at->str());
    CHECK((metrics.find("\n" + at->str() + "{") != std::string::npos ||
           metrics.find("\n" + at->str() + " ") != std::string::npos));
  }
}

TEST_CASE("a real Prometheus scrapes a runtime under load and stores its counters", "[metrics][prometheus]") {
  auto const rt = start();
  auto const clicks = rt->launch<basics::counter>("clicks", {.capacity = 256});
  rondo::service::service_counters counters;
  rondo::service::reporter watcher{*rt, {.name = "shop"}, &counters};
  boost::asio::thread_pool pool{2};
  rondo::service::http_server server(
      pool.get_executor(), pool.get_executor(), {boost::asio::ip::address_v4::loopback(), 0},
      rondo::service::monitoring_routes([&] { return to_metrics(watcher.gather()); },
                                        [] { return std::string(); }, [] { return std::string(); }));
  std::atomic<bool> stop{false};
  std::uint64_t handled = 0;
  std::thread load([&] {
    while (!stop) {
      if (!clicks.try_tell(basics::add{1})) ++handled;
      if (handled % 100 == 0) std::this_thread::yield();
    }
  });
  struct end_of_test {
    std::function<void()> what;
    ~end_of_test() { what(); }
  } const cleaning{[&] {
    stop = true;
    if (load.joinable()) load.join();
    server.stop();
    pool.join();
  }};

  prometheus const p(server.port());
  REQUIRE(eventually([&] {
    return p.query("rate(rondo_actor_handled_total[1m]) > 0").find("clicks") != std::string::npos;
  }));
  stop = true;
  load.join();
  std::string found;
  auto const wanted = "\"" + std::to_string(handled) + "\"]";
  CHECK(eventually([&] {
    found = p.query("rondo_actor_handled_total{actor=\"clicks\"}");
    return found.find(wanted) != std::string::npos;
  }));
  INFO(found << " for " << wanted);
  CHECK(p.query("histogram_quantile(0.99, sum by (le) (rate(rondo_actor_latency_seconds_bucket[1m]))) > 0")
            .find("value") != std::string::npos);
  CHECK(p.query("up{job=\"rondo\"}").find("\"1\"]") != std::string::npos);
  CHECK(eventually([&] { return p.query("rondo_conserved").find("\"1\"]") != std::string::npos; }));
  for (auto const& e : dashboard_expressions()) {
    INFO(e);
    CHECK_THAT(p.query(e), Contains("\"status\":\"success\""));
  }
  CHECK(eventually([&] {
    auto const rules = p.ask("/api/v1/rules");
    return rules.find("\"health\":\"ok\"") != std::string::npos &&
           rules.find("\"health\":\"unknown\"") == std::string::npos;
  }));
  CHECK_THAT(p.ask("/api/v1/rules"), !Contains("\"health\":\"err\""));
  CHECK_THAT(p.ask("/api/v1/alerts"), !Contains("firing"));
}
