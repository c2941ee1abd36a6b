// The metrics for Prometheus, line by line.
#include "runtime/service/monitor/metrics.hpp"

#include <sstream>

#include "tests/service/basics_fixture.hpp"
#include "tests/service/report_samples.hpp"

using namespace service_test;
using Catch::Matchers::Contains;
using rondo::service::to_metrics;

namespace {

std::vector<std::string> lines_with(std::string const& text, std::string const& what) {
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.find(what) != std::string::npos) found.push_back(line);
  return found;
}

}  // namespace

TEST_CASE("each family is described once, before its samples", "[metrics]") {
  auto const text = to_metrics(with_graph(sample_report()));
  std::set<std::string> families;
  std::string family;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    INFO(line);
    std::istringstream words(line);
    std::string first, second, third;
    words >> first >> second >> third;
    if (first == "#") {
      if (second == "HELP") CHECK(families.insert(third).second);
      family = third;
      continue;
    }
    CHECK(line.rfind(family, 0) == 0);
    CHECK_THAT(line, !Contains("nan"));
  }
  CHECK(families.size() > 40);
  for (auto const& name : families) CHECK(name.rfind("rondo_", 0) == 0);
}

TEST_CASE("an actor's counters carry its name, behaviour and device", "[metrics]") {
  auto const text = to_metrics(sample_report());
  CHECK_THAT(
      text,
      Contains(
          "rondo_actor_handled_total{actor=\"clicks\",behaviour=\"shop::counter\",device=\"0\"} 1000\n"));
  CHECK_THAT(
      text,
      Contains(
          "rondo_actor_waiting_messages{actor=\"clicks\",behaviour=\"shop::counter\",device=\"0\"} 7\n"));
  CHECK_THAT(text, Contains("rondo_messages_handled_total 1500\n"));  // includes those of terminated actors
  CHECK_THAT(text, Contains("rondo_connections_dropped_total{reason=\"slow_reader\"} 2\n"));
  CHECK_THAT(text, Contains("rondo_certificate_expiry_timestamp_seconds 1900000000\n"));
  CHECK_THAT(text, Contains("rondo_table_used{table=\"asks\"} 2\n"));
  CHECK_THAT(text, Contains("rondo_table_limit{table=\"asks\"} 4096\n"));
  CHECK_THAT(text, Contains("rondo_table_refused_total{table=\"asks\"} 5\n"));
  CHECK_THAT(text, Contains("rondo_checkpoints_total 12\n"));
  CHECK_THAT(text, Contains("rondo_checkpoints_failed_total 1\n"));
  CHECK_THAT(text, Contains("rondo_recordings_failed_total 0\n"));
  CHECK_THAT(text, Contains("rondo_checkpoint_failing 1\n"));
  CHECK_THAT(text, Contains("rondo_nats_connected 1\n"));
  CHECK_THAT(text, Contains("rondo_nats_login_refused 0\n"));
  CHECK_THAT(text, Contains("rondo_nats_durable_ready 1\n"));
  CHECK_THAT(text, Contains("rondo_nats_messages_taken_total{kind=\"request\"} 70\n"));
  CHECK_THAT(text, Contains("rondo_nats_messages_taken_total{kind=\"durable\"} 30\n"));
  CHECK_THAT(text, Contains("rondo_nats_messages_refused_total{kind=\"request\"} 1\n"));
  CHECK_THAT(text, Contains("rondo_nats_messages_refused_total{kind=\"durable\"} 2\n"));
  CHECK_THAT(text, Contains("rondo_nats_messages_redelivered_total 3\n"));
  CHECK_THAT(text, Contains("rondo_nats_messages_acknowledged_total 25\n"));
  CHECK_THAT(text, Contains("rondo_gpu_utilization_ratio{gpu=\"0\",name=\"Fake H1\"} 0.73\n"));
  CHECK_THAT(text, !Contains("rondo_gpu_power_watts{gpu=\"1\""));  // this GPU does not report its power
}

TEST_CASE("a stage's counters carry its graph, name, type and device", "[metrics]") {
  auto const text = to_metrics(with_graph(sample_report()));
  auto const has = [&](std::string const& name, std::string const& stage, std::string const& device,
                       std::string const& value) {
    auto const labels = "{graph=\"studio\",stage=\"" + stage + "\",type=\"rondo::video::" + stage +
                        "\",device=\"" + device + "\"} ";
    CHECK_THAT(text, Contains(name + labels + value + "\n"));
  };
  has("rondo_stage_ticks_total", "camera", "1", "1000");
  has("rondo_stage_skipped_total", "camera", "1", "2");
  has("rondo_stage_failures_total", "blur", "0", "4");
  has("rondo_stage_copied_total", "blur", "0", "11");
  has("rondo_stage_replicas", "blur", "0", "3");
  has("rondo_stage_busy_seconds_total", "blur", "0", "0.9");
  has("rondo_stage_longest_seconds", "blur", "0", "0.0025");
  has("rondo_stage_dropped_total", "frame_rate", "0", "6");
  has("rondo_stage_replaced_total", "frame_rate", "0", "7");
  has("rondo_stage_lost_total", "camera", "1", "3");
  has("rondo_stage_late_total", "frame_rate", "0", "5");
  CHECK_THAT(text, Contains("rondo_graph_state{graph=\"studio\",state=\"running\"} 1\n"));
  CHECK_THAT(text, Contains("rondo_graph_state{graph=\"studio\",state=\"failed\"} 0\n"));
  CHECK_THAT(
      text, Contains("rondo_graph_copies_total{graph=\"studio\",from=\"camera.video\",device=\"0\"} 1000\n"));
  CHECK_THAT(text, Contains("rondo_graph_copied_bytes_total{graph=\"studio\",from=\"camera.video\",device="
                            "\"0\"} 1382400000\n"));
  CHECK_THAT(text, Contains("rondo_graph_copy_seconds_total{graph=\"studio\",from=\"camera.video\",device="
                            "\"0\"} 0.088\n"));
}

TEST_CASE("a stage that has never answered has no series, and a report without graphs no families",
          "[metrics]") {
  CHECK(lines_with(to_metrics(with_graph(sample_report())), "stage=\"file\"").empty());
  CHECK(lines_with(to_metrics(sample_report()), "rondo_stage_").empty());
  CHECK(lines_with(to_metrics(sample_report()), "rondo_graph_").empty());
}

TEST_CASE("graphs and stages whose names look the same make one series", "[metrics]") {
  auto r = with_graph(with_graph(sample_report()));
  r.graphs[0]->stages[1]->name = "camera";
  std::set<std::string> unique;
  for (auto const& line : lines_with(to_metrics(r), "graph=\"studio\""))
    CHECK(unique.insert(line.substr(0, line.rfind(' '))).second);
}

TEST_CASE("a histogram's buckets add up, and end with its count", "[metrics]") {
  auto r = sample_report();
  auto& counts = r.actors[0]->latency_counts;
  std::ranges::fill(counts, 0u);
  counts[0] = 1;  // less than 96 ns
  counts[static_cast<std::size_t>(rondo::latency_histogram::bucket_of(1024))] = 2;
  counts[static_cast<std::size_t>(rondo::latency_histogram::bucket_of(1023))] = 4;
  counts.back() = 8;
  auto const lines = lines_with(to_metrics(r), "rondo_actor_latency_seconds_bucket{actor=\"clicks\"");
  REQUIRE(lines.size() == 20);
  CHECK_THAT(lines[0], Contains("le=\"1.024e-06\"} 5"));
  CHECK_THAT(lines[1], Contains("le=\"2.048e-06\"} 7"));
  CHECK_THAT(lines[18], Contains("le=\"0.268435456\"} 7"));
  CHECK_THAT(lines[19], Contains("le=\"+Inf\"} 15"));
  CHECK_THAT(to_metrics(r), Contains("rondo_actor_latency_seconds_count{actor=\"clicks\",behaviour=\"shop::"
                                     "counter\",device=\"0\"} 15\n"));
}

TEST_CASE("an actor without samples has the same buckets as the others", "[metrics]") {
  auto r = sample_report();
  r.actors[0]->latency_counts.clear();
  CHECK(lines_with(to_metrics(r), "rondo_actor_latency_seconds_bucket{actor=\"clicks\"").size() == 20);
}

TEST_CASE("characters that a label must not contain are escaped", "[metrics]") {
  auto r = sample_report();
  r.actors[0]->name = "a\"b\\c\nd";
  CHECK_THAT(to_metrics(r), Contains("actor=\"a\\\"b\\\\c\\nd\""));
}

TEST_CASE("actors beyond the limit, unnamed ones and duplicates are summed into one", "[metrics]") {
  auto r = sample_report();
  r.actors.clear();
  for (std::uint32_t i = 0; i < 1000; ++i) r.actors.push_back(sample_actor("a" + std::to_string(i), i));
  r.actors[0]->name.clear();
  r.actors[1]->name = "other";
  r.actors[3]->name = "a2";
  auto const text = to_metrics(r, {.actors = 10});
  auto const lines = lines_with(text, "rondo_actor_handled_total{");
  REQUIRE(lines.size() == 11);
  CHECK_THAT(lines[0], Contains("\"a2\""));
  CHECK(lines[10] ==
        "rondo_actor_handled_total{actor=\"other\",behaviour=\"other\",device=\"other\"} 990000");
  std::set<std::string> unique;
  for (auto const& line : lines_with(text, "rondo_"))
    CHECK((line[0] == '#' || unique.insert(line.substr(0, line.rfind(' '))).second));
  CHECK_THAT(text, Contains("rondo_actors{state=\"active\"} 1000\n"));
}

TEST_CASE("a live runtime's metrics equal its counters", "[metrics]") {
  auto const rt = start();
  auto const c = rt->launch<basics::counter>("clicks", {.capacity = 256});
  for (int i = 0; i < 41; ++i) REQUIRE_FALSE(c.try_tell(basics::add{1}));
  REQUIRE(c.ask(basics::get{}, patience, rondo::block));
  rondo::service::reporter watcher{*rt, {}};
  REQUIRE(eventually([&] {
    return to_metrics(watcher.gather())
               .find(
                   "rondo_actor_handled_total{actor=\"clicks\",behaviour=\"rondo::basics::counter\",device="
                   "\"0\"} 42\n") != std::string::npos;
  }));
}
