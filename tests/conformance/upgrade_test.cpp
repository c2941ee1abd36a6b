// Upgrades of a running runtime: actors keep their identity and state, and handle waiting mail with their new code.
#include <unistd.h>

#include "runtime/checkpoint.hpp"
#include "runtime/upgrade.hpp"
#include "tests/conformance/behaviours_next.hpp"
#include "tests/conformance/harness.hpp"

using namespace conformance;
using Catch::Matchers::Contains;

TEST_CASE("actors continue under a new module with their states and their mail", "[G7][G8]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  listener<rondo::dead_letter> letters;
  auto const subscription = rt->on_dead_letter(letters.handler());
  auto const pooled = rt->launch<adder>("pooled");
  auto const pinned = rt->launch<adder>("pinned", {.pinned = true});
  auto const asleep = rt->launch<adder>("asleep", {.active = false});
  auto const log = rt->launch<journal>("log");
  for (std::uint64_t i = 1; i <= 4; ++i) {
    REQUIRE_FALSE(tell(pooled, add{i}));
    REQUIRE_FALSE(tell(pinned, add{10 * i}));
    REQUIRE_FALSE(tell(asleep, add{100 * i}));
    REQUIRE_FALSE(tell(log, entry{static_cast<std::uint32_t>(i)}));
  }
  REQUIRE_FALSE(tell(asleep, settle{1}));  // which later adders do not know
  REQUIRE(ask(pooled, get{}).value().value == 10);
  REQUIRE(ask(pinned, get{}).value().value == 100);

  rondo::upgrade(*rt, rondo::use<testbed_next>);

  CHECK_FALSE(rt->find<adder>("pooled"));
  auto const kept = rt->find<counting_adder>("pooled").value();
  CHECK(kept.id() == pooled.id());
  REQUIRE_FALSE(tell(kept, add{5}));
  CHECK(ask(kept, get_more{}).value().sum == 15);
  CHECK(ask(kept, get_more{}).value().taken_over == 10);
  REQUIRE_FALSE(tell(pinned, add{1}));  // old refs remain valid
  CHECK(ask(pinned, get{}).value().value == 101);
  CHECK(ask(rt->find<counting_adder>("pinned").value(), get_more{}).value().adds == 1);
  CHECK(read_all(log) == std::vector<std::uint32_t>{1, 2, 3, 4});
  REQUIRE_FALSE(activate(asleep));
  auto const woken = rt->find<counting_adder>("asleep").value();
  CHECK(ask(woken, get_more{}, 0).value().sum == 1000);
  CHECK(ask(woken, get_more{}, 0).value().adds == 4);
  REQUIRE(letters.wait_for(1));
  CHECK(letters.all()[0].reason == errc::unknown_message);

  auto const fresh = rt->launch<counting_adder>("fresh");
  CHECK(ask(fresh, get{}).value().value == 0);
  CHECK(rt->try_launch<adder>("stale").error() == errc::unknown_behaviour);
  CHECK_FALSE(terminate(pooled, rondo::termination::drain));
  auto const t = at_rest(*rt);
  CHECK(report_of(t, pinned.id()).behaviour == rondo::type_name<counting_adder>);
}

TEST_CASE("an upgrade that is impossible changes nothing, and reports the reason", "[G9]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  in_reach<gate> const reached;
  gate& at = *reached;
  auto settings = v.settings;
  settings.stop_timeout_ms = 60;
  auto const rt = start(settings);
  gate_keeper const keeper{at};
  auto const actor = rt->launch<adder>("adder");
  REQUIRE_FALSE(tell(actor, add{7}));
  auto const why_not = [&] {
    try {
      rondo::upgrade(*rt, rondo::use<testbed_next>);
      return std::string();
    } catch (std::runtime_error const& e) {
      return std::string(e.what());
    }
  };
  {
    auto const foreign = rt->launch<batcher>("foreign");
    CHECK_THAT(why_not(), Contains("foreign") && Contains("conformance::batcher"));
    REQUIRE_FALSE(terminate(foreign, rondo::termination::drain));
  }
  hold_at(actor, at);
  CHECK_THAT(why_not(), Contains("adder") && Contains("hold"));
  keeper.open();
  CHECK(ask(actor, get{}).value().value == 7);
  CHECK(rt->find<adder>("adder"));
  REQUIRE(eventually([&] { return why_not().empty(); }));
  CHECK(ask(actor, get{}).value().value == 7);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("upgrades under load lose nothing", "[G1][G2][stress]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("adder", {.capacity = 256});
  auto const pinned = rt->launch<adder>("pinned", {.capacity = 256, .pinned = true});
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> told[2] = {0, 0};
  auto const both_are_told_more = [&] {
    std::uint64_t const before[2] = {told[0], told[1]};
    return eventually([&] { return told[0] > before[0] && told[1] > before[1]; });
  };
  std::thread sender([&] {
    while (!done) {
      told[0] += !tell(actor, add{1});
      told[1] += !tell(pinned, add{1});
    }
  });
  bool const loaded_before = both_are_told_more();
  rondo::upgrade(*rt, rondo::use<testbed_next>);
  bool const loaded_after = both_are_told_more();
  done = true;
  sender.join();
  CHECK(loaded_before);
  CHECK(loaded_after);
  CHECK(ask_last(actor, get{}).value == told[0]);
  CHECK(ask_last(pinned, get{}).value == told[1]);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("a checkpoint written after an upgrade belongs to the new module", "[G8]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const file = std::filesystem::temp_directory_path() /
                    ("rondo-upgrade-" + std::to_string(::getpid()) + ".checkpoint");
  {
    auto const rt = start(v.settings);
    auto const actor = rt->launch<adder>("adder");
    REQUIRE_FALSE(tell(actor, add{3}));
    REQUIRE(ask(actor, get{}).value().value == 3);
    rondo::upgrade(*rt, rondo::use<testbed_next>);
    rondo::checkpoint(*rt, file);
  }
  auto const rt = start(v.settings);
  rondo::upgrade(*rt, rondo::use<testbed_next>);
  rondo::restore(*rt, file);
  std::filesystem::remove(file);
  CHECK(ask(rt->find<counting_adder>("adder").value(), get_more{}).value().taken_over == 3);
}
