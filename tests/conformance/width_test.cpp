// Actors of width::lane: a team of several lanes runs one on each. That they keep all guarantees is for the other tests
// to say: where a team has several lanes, those run most behaviours in lanes.
#include "tests/conformance/harness.hpp"

using namespace conformance;
using Catch::Matchers::Contains;

TEST_CASE("a team runs an actor of width lane on each of its lanes at the same time", "[width]") {
  auto v = GENERATE(from_range(variants()));
  if (v.settings.lanes == 1) return;
  INFO(v.name);
  v.settings.teams = 2;
  std::uint32_t const guests = 8;
  auto const rt = start(v.settings);
  std::vector<rondo::actor_ref<guest>> all;
  for (std::uint32_t i = 0; i < guests; ++i) all.push_back(rt->launch<guest>("guest " + std::to_string(i)));
  for (std::uint32_t i = 1; i < guests; ++i) REQUIRE(all[i].where().id.index == all[0].where().id.index + i);
  shared_word inside, met;
  auto const host = rt->launch<host_of_guests>("host");
  REQUIRE_FALSE(tell(host, convene{all[0].where().id, {inside.get(), met.get(), guests}}));
  CHECK(eventually([&] { return inside == guests && at_rest(*rt).conserved(); }));
  CHECK(met == guests);  // two teams, but eight of them
}

TEST_CASE("the watchdog names the lane of a handler that does not end", "[width]") {
  auto v = GENERATE(from_range(variants()));
  if (v.settings.lanes == 1) return;
  INFO(v.name);
  v.settings.handler_limit_ms = 100;
  auto const rt = start(v.settings);
  std::promise<std::string> said;
  std::atomic<bool> once = false;
  auto const reported = rt->on_failure_report([&](std::string const& text) {
    if (!once.exchange(true)) said.set_value(text);
  });
  shared_word inside, met;
  auto const actor = rt->launch<guest>("late");
  REQUIRE_FALSE(tell(actor, meet{inside.get(), met.get(), 2}));
  auto text = said.get_future();
  REQUIRE(text.wait_for(patience) == std::future_status::ready);
  CHECK_THAT(text.get(), Contains("lane 0 of team") && Contains("'late'"));
}
