// Telemetry besides counters: an actor's last failure, and the traffic of a queue pair.
#include "runtime/lifecycle.hpp"
#include "runtime/observe/telemetry.hpp"
#include "tests/runtime/counter_fixture.hpp"

using namespace rondo_test;

namespace {

std::unique_ptr<rondo::runtime> start_on(char const* device) {
  rondo::config settings;
  settings.device = device;
  settings.teams = 2;
  return start(settings);
}

std::optional<rondo::actor_failure> failure_of(rondo::runtime& rt, std::string_view name) {
  for (auto const& a : rt.snapshot().actors)
    if (a.name == name) return a.last_failure;
  return std::nullopt;
}

}  // namespace

TEST_CASE("telemetry reports an actor's last failure with the message that caused it", "[telemetry]") {
  auto const* const device = GENERATE("cpu", "emulated");
  INFO(device);
  auto const rt = start_on(device);
  auto const fragile =
      rt->launch<counter>("fragile", {.supervise = {.poison_after = 1, .max_restarts = 100}});
  rt->launch<counter>("sound");
  auto const before = rondo::now_ns();
  CHECK_FALSE(failure_of(*rt, "fragile"));
  REQUIRE_FALSE(fragile.try_tell(boom{}));
  REQUIRE(eventually([&] { return failure_of(*rt, "fragile").has_value(); }));
  auto const failure = failure_of(*rt, "fragile").value();
  CHECK(failure.reason == errc::handler_failed);
  CHECK(failure.action == rondo::failure_action::restarted);
  CHECK(failure.type == rondo::type_id<boom>);
  CHECK(failure.at_ns >= before);
  CHECK(failure.at_ns <= rondo::now_ns());
  CHECK_FALSE(failure_of(*rt, "sound"));
}

TEST_CASE("a successor in the same cell does not inherit a failure", "[telemetry]") {
  auto const rt = start_on("cpu");
  auto const launch = [&](char const* name) {
    return rt->launch<counter>(name, {.supervise = {.poison_after = 1, .max_restarts = 100}});
  };
  auto const fails = [&](auto const& actor, char const* name) {
    REQUIRE_FALSE(actor.try_tell(boom{}));
    REQUIRE(eventually([&] { return failure_of(*rt, name).has_value(); }));
    return failure_of(*rt, name)->at_ns;
  };
  auto const first = launch("first");
  auto const failed_ns = fails(first, "first");
  REQUIRE_FALSE(rondo::terminate(first, rondo::termination::discard, rondo::block));
  auto const second = launch("second");
  REQUIRE(second.id().index == first.id().index);
  CHECK_FALSE(failure_of(*rt, "second"));
  CHECK(fails(second, "second") > failed_ns);
}

TEST_CASE("telemetry counts the traffic of a device's queue pair", "[telemetry]") {
  CHECK_FALSE(start_on("cpu")->snapshot().devices[0].queues);
  auto const rt = start_on("emulated");
  auto const first = rt->snapshot().devices[0].queues.value();
  CHECK(first.submission_slots == rt->settings().submission_slots);
  CHECK(first.completion_slots == rt->settings().completion_slots);
  auto const c = rt->launch<counter>("c");
  REQUIRE(c.ask(get{}, patience, rondo::block));
  REQUIRE(eventually([&] {
    auto const now = rt->snapshot().devices[0].queues.value();
    return now.submitted >= first.submitted + 2 && now.taken == now.submitted &&
           now.completed > first.completed;
  }));
}
