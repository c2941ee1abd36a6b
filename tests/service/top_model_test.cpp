// What `rondo top` computes from two or more reports.
#include "tools/top/top_model.hpp"

#include "tests/service/basics_fixture.hpp"
#include "tests/service/report_samples.hpp"

using namespace service_test;
using rondo::tools::top_model;

namespace {

rondo::service::report after(double seconds, rondo::service::report r) {
  r.clock_ns += static_cast<std::uint64_t>(seconds * 1e9);
  r.uptime_ns += static_cast<std::uint64_t>(seconds * 1e9);
  return r;
}

}  // namespace

TEST_CASE("one report has numbers, but no rates yet", "[top]") {
  top_model model;
  CHECK_FALSE(model.has_report());
  model.add(sample_report());
  CHECK(model.has_report());
  CHECK_FALSE(model.has_interval());
  REQUIRE(model.actors().size() == 2);
  CHECK(model.actors()[0].rate == 0);
  CHECK(model.actors()[0].now->waiting == 7);
}

TEST_CASE("rates and latencies cover only the interval", "[top]") {
  top_model model;
  model.add(sample_report());
  auto next = after(2, sample_report());
  auto& a = *next.actors[0];
  a.handled += 500;
  a.dead += 4;
  next.live->handled += 500;
  next.live->accepted += 504;
  next.connections->requests += 30;
  // The old samples were 5 us and 90 us; the new ones are all around 1 ms.
  a.latency_counts[static_cast<std::size_t>(rondo::latency_histogram::bucket_of(1'000'000))] += 100;
  model.add(std::move(next));
  REQUIRE(model.has_interval());
  CHECK(model.seconds() == Approx(2));
  auto const& line = model.actors()[0];
  CHECK(line.rate == Approx(250));
  CHECK(line.new_errors == 4);
  CHECK(line.p50_ns > 0.7e6);
  CHECK(line.p99_ns < 1.1e6);
  CHECK(model.actors()[1].rate == 0);
  CHECK(model.actors()[1].p99_ns == 0);
  CHECK(model.totals().handled == Approx(250));
  CHECK(model.totals().requests == Approx(15));
  CHECK_FALSE(model.totals().at_rest);
}

TEST_CASE("sample counters that wrap around are handled", "[top]") {
  auto const bucket = static_cast<std::size_t>(rondo::latency_histogram::bucket_of(5000));
  auto first = sample_report();
  first.actors[0]->latency_counts[bucket] = ~0u - 9;
  auto next = after(1, first);
  next.actors[0]->latency_counts[bucket] = 30;
  top_model model;
  model.add(std::move(first));
  model.add(std::move(next));
  CHECK(model.actors()[0].samples[bucket] == 40);
}

TEST_CASE("an actor without earlier samples starts at zero", "[top]") {
  auto first = sample_report();
  first.actors[0]->latency_counts.clear();
  auto next = after(1, first);
  next.actors[0]->latency_counts.assign(first.latency_floors_ns.size(), 1);
  top_model model;
  model.add(std::move(first));
  CHECK(model.actors()[0].p50_ns == 0);
  model.add(std::move(next));
  CHECK(model.actors()[0].p50_ns > 0);
}

TEST_CASE("a restart of the service clears everything", "[top]") {
  top_model model;
  model.add(sample_report());
  model.add(after(1, sample_report()));
  CHECK(model.rates().size() == 1);
  auto reborn = after(2, sample_report());
  reborn.incarnation = 8;
  model.add(std::move(reborn));
  CHECK_FALSE(model.has_interval());
  CHECK(model.rates().empty());
  model.add(sample_report());  // a clock that goes back also counts as a restart
  CHECK_FALSE(model.has_interval());
}

TEST_CASE("a successor with the same name and cell does not inherit rates", "[top]") {
  top_model model;
  model.add(sample_report());
  auto next = after(1, sample_report());
  next.actors[0]->generation = 2;
  next.actors[0]->handled = 10;
  model.add(std::move(next));
  CHECK(model.actors()[0].rate == Approx(10));
  REQUIRE(model.actors()[0].rates != nullptr);
  CHECK(model.actors()[0].rates->size() == 1);
}

TEST_CASE("the history is limited in time and in actors", "[top]") {
  top_model model;
  auto crowd = sample_report();
  for (std::uint32_t i = 0; i < 2000; ++i)
    crowd.actors.push_back(sample_actor("a" + std::to_string(i), 10 + i));
  for (std::size_t i = 0; i < 5; ++i) model.add(after(static_cast<double>(i), crowd));
  auto const followed =
      std::ranges::count_if(model.actors(), [](auto const& a) { return a.rates != nullptr; });
  CHECK(followed == rondo::tools::top_followed);
  top_model small;
  for (std::size_t i = 0; i < rondo::tools::top_history + 50; ++i)
    small.add(after(static_cast<double>(i), sample_report()));
  CHECK(small.rates().size() == rondo::tools::top_history);
  CHECK(small.actors()[0].rates->size() == rondo::tools::top_history);
  // The history of a terminated actor is removed.
  auto empty = after(1000, sample_report());
  empty.actors.clear();
  small.add(std::move(empty));
  small.add(after(1001, sample_report()));
  CHECK(small.actors()[0].rates->size() == 1);
}

TEST_CASE("the rates of a live runtime match the messages sent", "[top]") {
  auto const rt = start();
  auto const c = rt->launch<basics::counter>("clicks", {.capacity = 256});
  rondo::service::reporter watcher{*rt, {}};
  top_model model;
  model.add(watcher.gather());
  for (int i = 0; i < 100; ++i) REQUIRE_FALSE(c.try_tell(basics::add{1}));
  rondo::service::report r;
  REQUIRE(eventually([&] {
    r = watcher.gather();
    return r.live->handled == 100;
  }));
  model.add(std::move(r));
  CHECK(model.totals().handled * model.seconds() == Approx(100));
  CHECK(model.actors()[0].rate * model.seconds() == Approx(100));
  CHECK(model.actors()[0].p50_ns > 0);
}

TEST_CASE("a stage's rate and load cover the time between its counts", "[top]") {
  top_model model;
  auto const first = with_graph(sample_report());
  model.add(with_graph(sample_report()));
  REQUIRE(model.stages().size() == 5);
  CHECK(model.stages()[1].rate == 0);
  auto next = after(4, with_graph(sample_report()));
  auto& blur = *next.graphs[0]->stages[1];
  blur.counted_ns = first.clock_ns + 2'000'000'000;  // it has answered late: rates are of two seconds
  blur.processed += 100;
  blur.busy_ns += 3'000'000'000;
  blur.dropped = 1;
  auto& copies = *next.graphs[0]->transfers[0];
  copies.copies += 40;
  copies.copy_ns += 4'000'000;
  model.add(std::move(next));
  auto const& stage = model.stages()[1];
  CHECK(stage.rate == Approx(50));
  CHECK(stage.busy == Approx(0.5));  // of three replicas
  CHECK(stage.mean_ns == Approx(30e6));
  CHECK(stage.loses);
  CHECK_FALSE(stage.is_late);
  REQUIRE(stage.rates != nullptr);
  CHECK(stage.rates->back() == Approx(50));
  CHECK_FALSE(model.stages()[4].has_counts());
  REQUIRE(model.transfers().size() == 1);
  CHECK(model.transfers()[0].rate == Approx(10));
  CHECK(model.transfers()[0].mean_ns == Approx(100e3));
}

TEST_CASE("a stage that does not answer was busy all the time, unless its graph is paused", "[top]") {
  bool const paused = GENERATE(false, true);
  top_model model;
  model.add(with_graph(sample_report()));
  auto next = with_graph(after(1, sample_report()));
  for (auto& s : next.graphs[0]->stages)
    if (s->counted_ns != 0) s->counted_ns -= 1'000'000'000;
  if (paused) next.graphs[0]->state = "paused";
  model.add(std::move(next));
  CHECK(model.stages()[0].rate == 0);
  CHECK(model.stages()[0].busy == (paused ? 0 : 1));
}

TEST_CASE("a stage shows for how long its actor, or one of its replicas, has run a handler", "[top]") {
  auto r = with_graph(sample_report());
  auto const runs = [&](char const* name, std::uint64_t ns) {
    r.actors.push_back(sample_actor(name, static_cast<std::uint32_t>(r.actors.size())));
    r.actors.back()->running = std::make_unique<rondo::reports::runT>();
    r.actors.back()->running->for_ns = ns;
  };
  runs("studio/camera", 1);
  runs("studio/camera-1", 2);  // the camera has no replicas
  runs("studio/blur-2", 3);
  runs("studio/blur-3", 4);
  runs("studio/blur", 5);
  runs("studio/blur-x", 6);
  top_model model;
  model.add(std::move(r));
  CHECK(model.stages()[0].running_ns == 1);
  CHECK(model.stages()[1].running_ns == 4);
  CHECK(model.stages()[2].running_ns == 0);
}
