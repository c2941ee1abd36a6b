#include <cmath>
#include <deque>
#include <future>
#include <memory>
#include <random>

#include "actors/workloads/find_anomalies.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/memory/buffer_pool.hpp"
#include "tests/catch.hpp"
#include "tests/scratch_directory.hpp"
#include "tools/workloads_module/workloads_module.hpp"

using namespace rondo;
using namespace rondo::workloads;
using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

using module_used = tools::workloads_module;

/// Of all kinds: noise, steps, spikes of any size, values that stay the same.
std::vector<float> random_values(std::mt19937& random, std::size_t count) {
  std::normal_distribution<double> noise;
  std::vector<float> all;
  double level = 0, scale = 1;
  bool is_still = false;
  while (all.size() < count) {
    if (random() % 200 == 0) level = noise(random) * std::pow(10, static_cast<int>(random() % 6));
    if (random() % 200 == 0) scale = std::pow(10, static_cast<int>(random() % 6) - 3);
    if (random() % 300 == 0) is_still = !is_still;
    auto value = level + (is_still ? 0 : scale * noise(random));
    if (random() % 100 == 0) value += scale * noise(random) * std::pow(10, static_cast<int>(random() % 12));
    all.push_back(static_cast<float>(value));
  }
  return all;
}

/// Sensors with from 0 to `most` readings.
sensor_readings random_readings_of(std::uint32_t seed, std::uint32_t sensors, std::size_t most) {
  std::mt19937 random{seed};
  sensor_readings r;
  for (std::uint32_t s = 0; s < sensors; ++s) {
    auto const some = random_values(random, 1 + random() % most);
    r.values.insert(r.values.end(), some.begin(), some.end());
    r.firsts.push_back(r.values.size());
  }
  return r;
}

bool same(alert const& a, alert const& b) {
  return a.sensor == b.sensor && a.number == b.number && a.value == b.value && a.mean == b.mean &&
         a.deviation == b.deviation;
}
void require_same(std::vector<alert> const& found, std::vector<alert> const& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!same(found[i], expected[i])) {
      INFO("alert " << i << ": sensor " << found[i].sensor << ", number " << found[i].number);
      REQUIRE(same(found[i], expected[i]));
    }
}

config settings_for(char const* device, sensor_readings const& readings, anomaly_options const& how) {
  config c{.device = device, .teams = 2};
  make_room(c, readings, how);
  return c;
}

/// A search that ends as if its process was killed.
struct killed {};
void search_and_die(sensor_readings const& readings, anomaly_options const& how, int after_parts) {
  runtime rt{use<module_used>, settings_for("cpu", readings, how)};
  auto const die = [&](std::uint64_t, std::uint64_t) {
    if (after_parts-- == 0) throw killed();
  };
  REQUIRE_THROWS_AS(find_anomalies(rt, readings, how, die), killed);
}

}  // namespace

TEST_CASE("a window judges as its values do, looked at one by one", "[workloads]") {
  auto const size = GENERATE(30u, 31u, 100u, 1000u);
  std::mt19937 random{size};
  auto const window = std::make_unique<sliding_window>();
  std::size_t far = 0, close_calls = 0;
  for (int round = 0; round < 20; ++round) {
    window->begin(size, 3);
    std::deque<double> last;
    for (auto const x : random_values(random, 3000)) {
      double mean = 0, variance = 0;
      for (auto const v : last) mean += v / static_cast<double>(last.size());
      for (auto const v : last) variance += (v - mean) * (v - mean) / static_cast<double>(last.size());
      auto const away = std::abs(x - mean), border = 3 * std::sqrt(variance);
      bool const is_far = last.size() >= 30 && away > border;
      // What rounding may decide: how the mean and the deviation are computed differs.
      auto const rounding = 1e-6 * border + 1e-12 * std::abs(x);
      if (std::abs(away - border) <= rounding)
        ++close_calls;
      else
        REQUIRE(window->is_far(x) == is_far);
      if (is_far) {
        ++far;
        REQUIRE(std::abs(window->mean() - mean) <= 1e-9 * (std::abs(mean) + border));
        REQUIRE(std::abs(window->deviation() - std::sqrt(variance)) <=
                1e-6 * border + 1e-12 * std::abs(mean));
      }
      window->add(x);
      last.push_back(x);
      if (last.size() > size) last.pop_front();
    }
  }
  CHECK(far > 100);
  CHECK(close_calls < 20'000);  // values that stay the same
}

TEST_CASE("a window of equal values knows every other one, after whatever was before", "[workloads]") {
  auto const window = std::make_unique<sliding_window>();
  window->begin(100, 3);
  for (auto const before : {3e38f, 1e-40f, -7.1f}) {
    window->add(before);
    for (int n = 0; n < 100; ++n) window->add(0.1f);
    CHECK(window->deviation() == 0);
    CHECK(window->mean() == 0.1f);
    CHECK_FALSE(window->is_far(0.1f));
    CHECK(window->is_far(std::nextafter(0.1f, 1.f)));
  }
}

TEST_CASE("alerts of actors equal those of a plain loop, on every device and in all batches", "[workloads]") {
  auto const* const device = GENERATE("cpu", "emulated");
  auto const batch = GENERATE(1u, 7u, 100u, 1000u);
  auto const part = GENERATE(500u, 2'000'000u);
  auto const readings = random_readings_of(5, 40, 3000);
  anomaly_options const how{.window = 300, .batch = batch, .part = part};
  auto const plain = find_anomalies_plainly(readings, how);
  REQUIRE(plain.alerts.size() > 500);
  runtime rt{use<module_used>, settings_for(device, readings, how)};
  std::uint64_t reported = 0;
  auto const found = find_anomalies(rt, readings, how, [&](std::uint64_t n, std::uint64_t) { reported = n; });
  require_same(found.alerts, plain.alerts);
  CHECK(found.readings == readings.values.size());
  CHECK(reported == found.readings);
  auto const seen = rt.snapshot();
  CHECK(seen.dead_letters == 0);
  CHECK(seen.live.failures + seen.retired.failures == 0);
  CHECK(rt.list().empty());
}

TEST_CASE("windows of the full size find what was planted", "[workloads]") {
  random_readings const shape{8, 25'000, 3};
  auto const readings = generate_readings(shape);
  anomaly_options const how{};
  runtime rt{use<module_used>, settings_for("cpu", readings, how)};
  auto const found = find_anomalies(rt, readings, how);
  require_same(found.alerts, find_anomalies_plainly(readings, how).alerts);
  std::size_t planted = 0, of_them = 0;
  for (std::uint32_t s = 0; s < shape.sensors; ++s)
    for (std::uint32_t n = sliding_window::least; n < shape.readings; ++n) planted += is_planted(shape, s, n);
  for (auto const& a : found.alerts) of_them += is_planted(shape, a.sensor, a.number);
  CHECK(planted > 100);
  CHECK(of_them == planted);
  CHECK(found.alerts.size() < readings.values.size() / 100);
}

TEST_CASE("no alert is lost when the collector is full nearly all the time", "[workloads]") {
  auto const* const device = GENERATE("cpu", "emulated");
  auto const batch = GENERATE(1u, 100u);
  auto const readings = random_readings_of(9, 30, 2000);
  // Most readings are alerts.
  anomaly_options const how{.sigmas = 0.1, .window = 50, .batch = batch, .collector_capacity = 4};
  auto const plain = find_anomalies_plainly(readings, how);
  REQUIRE(plain.alerts.size() > readings.values.size() / 2);
  runtime rt{use<module_used>, settings_for(device, readings, how)};
  require_same(find_anomalies(rt, readings, how).alerts, plain.alerts);
  CHECK(rt.snapshot().dead_letters == 0);
}

TEST_CASE("a search goes on from its checkpoint in another runtime, and finds the same", "[workloads]") {
  auto const batch = GENERATE(1u, 100u);
  rondo_test::scratch_directory const dir("anomaly");
  auto const readings = random_readings_of(11, 6, 800);
  anomaly_options const how{.window = 300,
                            .batch = batch,
                            .part = 600,
                            .checkpoint = dir.directory / "search.checkpoint",
                            .checkpoint_every_s = 0};
  auto const plain = find_anomalies_plainly(readings, how);
  for (int parts = 0; parts < 3; ++parts) search_and_die(readings, how, parts);
  runtime rt{use<module_used>, settings_for("cpu", readings, how)};
  auto const found = find_anomalies(rt, readings, how);
  CHECK(found.restored > 0);
  CHECK(found.restored < found.readings);
  CHECK(found.readings == readings.values.size());
  require_same(found.alerts, plain.alerts);
  CHECK(rt.snapshot().dead_letters == 0);
}

TEST_CASE("a checkpoint of other readings or options is refused, and so is a torn one", "[workloads]") {
  rondo_test::scratch_directory const dir("anomaly");
  auto readings = random_readings_of(12, 5, 2000);
  anomaly_options how{.window = 100, .part = 2000, .checkpoint = dir.directory / "search.checkpoint"};
  how.checkpoint_every_s = 0;
  search_and_die(readings, how, 1);
  auto const refusal = [&](anomaly_options const& options) -> std::string {
    runtime rt{use<module_used>, settings_for("cpu", readings, options)};
    try {
      find_anomalies(rt, readings, options);
    } catch (checkpoint_refused const& e) {
      return e.what();
    }
    return {};
  };
  auto other = how;
  other.sigmas = 2.5;
  CHECK_THAT(refusal(other), Contains("it is of other readings or options; remove it"));
  other = how;
  other.batch = 10;
  CHECK_THAT(refusal(other), Contains("it is of other readings or options"));
  readings.values.front() += 1;
  CHECK_THAT(refusal(how), Contains("it is of other readings or options"));
  readings.values.front() -= 1;
  std::filesystem::resize_file(how.checkpoint, std::filesystem::file_size(how.checkpoint) - 1);
  CHECK_THAT(refusal(how), Contains("search.checkpoint") && Contains("; remove it to begin"));
  how.checkpoint = "/nowhere/search.checkpoint";
  runtime rt{use<module_used>, settings_for("cpu", readings, how)};
  CHECK_THROWS_AS(find_anomalies(rt, readings, how), checkpoint_not_written);
}

TEST_CASE("a sensor fails if the buffer of its readings is gone", "[workloads]") {
  runtime rt{use<module_used>, {.device = "cpu", .teams = 1}};
  std::promise<errc> why;
  auto const subscription = rt.on_dead_letter([&](dead_letter const& d) { why.set_value(d.reason); });
  auto const collector = rt.launch<alert_collector>("collector");
  auto const s =
      rt.launch<sensor>("sensor", {.supervise = {.poison_after = 1}}, {.collector = collector.where()});
  auto const values = rt.buffers().acquire(400).value();
  REQUIRE(rt.buffers().release(values) == errc::ok);
  CHECK(!s.try_tell(reading_range{values, 0}));
  CHECK(why.get_future().get() == errc::stale_buffer);
}

TEST_CASE("a sensor fails if its collector has ended", "[workloads]") {
  runtime rt{use<module_used>, {.device = "cpu", .teams = 1}};
  std::promise<errc> why;
  auto const subscription = rt.on_dead_letter([&](dead_letter const& d) { why.set_value(d.reason); });
  auto const collector = rt.launch<alert_collector>("collector");
  auto const s =
      rt.launch<sensor>("sensor", {.supervise = {.poison_after = 1}}, {.collector = collector.where()});
  REQUIRE(!terminate(collector, termination::discard, block));
  CHECK(!s.try_tell(end_of_part{}));
  CHECK(why.get_future().get() == errc::actor_gone);
}
