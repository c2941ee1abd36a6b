// One runtime with several devices: refs look the same, messages cross by way of the host in order and without loss,
// and a checkpoint, upgrade, loss or stop affects all devices at once.
#include "runtime/checkpoint.hpp"
#include "runtime/observe/telemetry.hpp"
#include "runtime/upgrade.hpp"
#include "tests/conformance/behaviours_next.hpp"
#include "tests/conformance/harness.hpp"

using namespace conformance;
using Catch::Matchers::Contains;

namespace {

std::uint64_t handled_by(rondo::runtime& rt, rondo::actor_id actor) {
  for (auto const& a : rt.snapshot().actors)
    if (a.now.index == actor.index) return a.now.totals.handled;
  return 0;  // its launch is still in progress
}

/// Waits until the host carries this many messages.
bool crossing(rondo::runtime& rt, std::uint64_t count) {
  return eventually([&] { return rt.snapshot().crossing == count; });
}

}  // namespace

TEST_CASE("an actor lives on the device that it was launched on", "[several]") {
  auto const v = GENERATE(from_range(variants_of_several()));
  INFO(v.name);
  auto const rt = start(v.settings);
  REQUIRE(rt->device_count() >= 2);
  for (std::uint32_t d = 0; d < rt->device_count(); ++d) {
    CHECK_FALSE(rt->reason(d).empty());
    CHECK_THAT(v.settings.device, Contains(rt->info(d).name));
    auto const name = "on " + std::to_string(d);
    auto const actor = rt->launch<adder>(name, {.device = d, .pinned = d == 1});
    CHECK(rondo::device_of(actor.id()) == d);
    REQUIRE_FALSE(tell(actor, add{d + 1}));
    CHECK(ask(rt->find<adder>(name).value(), get{}).value().value == d + 1);
    CHECK(rt->try_launch<adder>(name).error() == errc::name_taken);
    CHECK(inspect(actor).now.totals.handled == 2);
  }
  CHECK(rt->list().size() == rt->device_count());
  auto const t = at_rest(*rt);
  CHECK(t.devices.size() == rt->device_count());
  for (auto const& a : t.actors) CHECK(a.name == "on " + std::to_string(a.device));
  CHECK_THROWS_WITH(rt->launch<adder>("nowhere", {.device = 9}), Contains("device 9") && Contains("nowhere"));
  auto const last = rt->find<adder>("on 1").value();
  REQUIRE_FALSE(terminate(last, rondo::termination::drain));
  CHECK(tell(last, add{1}) == errc::actor_gone);
  CHECK(rondo::device_of(rt->launch<adder>("on 1", {.device = 1}).id()) == 1);
}

TEST_CASE("messages that cross between devices arrive in order, and wait for room", "[several][G1][G2][G5]") {
  auto const v = GENERATE(from_range(variants_of_several()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  std::vector<rondo::actor_ref<messenger>> sources;
  for (std::uint32_t s = 0; s < 4; ++s)
    sources.push_back(
        rt->launch<messenger>("source " + std::to_string(s), {.device = s % rt->device_count()}));
  // Much less room than messages.
  auto const target = rt->launch<orderly>("target", {.device = 1, .capacity = 8, .pinned = pinned});
  for (std::uint32_t round = 0; round < 5; ++round)
    for (std::uint32_t s = 0; s < 4; ++s)
      if (rondo::device_of(sources[s].id()) != 1)
        REQUIRE_FALSE(tell(sources[s], dictate{target.id(), s, s % 3, 60}));
  std::uint64_t senders = 0;
  for (auto const& s : sources) senders += rondo::device_of(s.id()) != 1;
  // Each dictation counts from 0, so only the first note of every later one is out of order.
  REQUIRE(eventually([&] { return handled_by(*rt, target.id()) >= senders * 300; }));
  auto const told = ask_last(target, get{});
  CHECK(told.handled == senders * 300);
  CHECK(told.disorder == senders * 4);
  auto const t = at_rest(*rt);
  CHECK(t.dead_letters == 0);
  CHECK(t.crossing == 0);
}

TEST_CASE("requests and answers cross between devices", "[several]") {
  auto const v = GENERATE(from_range(variants_of_several()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const here = rt->launch<messenger>("here", {.device = 0});
  auto const there = rt->launch<adder>("there", {.device = 1});
  REQUIRE_FALSE(tell(there, add{35}));
  CHECK(ask(here, consult{there.id(), 1}).value().value == 35 + 7);
  // Not answered: the asker gets an error.
  CHECK(ask(here, consult{there.id(), 0}).value().value == 1000 + static_cast<std::uint64_t>(errc::no_reply));
  REQUIRE_FALSE(terminate(there, rondo::termination::drain));
  CHECK(ask(here, consult{there.id(), 1}).value().value ==
        1000 + static_cast<std::uint64_t>(errc::actor_gone));
  at_rest(*rt);
}

TEST_CASE("a message that cannot cross is a dead letter with its reason", "[several][G1]") {
  auto const v = GENERATE(from_range(variants_of_several()));
  INFO(v.name);
  auto const rt = start(v.settings);
  listener<rondo::dead_letter> letters;
  auto const subscription = rt->on_dead_letter(letters.handler());
  auto const here = rt->launch<messenger>("here");
  auto const there = rt->launch<adder>("there", {.device = 1});
  REQUIRE_FALSE(terminate(there, rondo::termination::drain));
  auto const nowhere = rondo::actor_id{99u << rondo::device_shift, 1};
  for (auto const& to : {there.id(), nowhere}) {
    auto const before = letters.count();
    REQUIRE_FALSE(tell(here, relay{to, 3}));
    REQUIRE(letters.wait_for(before + 1));
    CHECK(letters.all().back().reason == errc::actor_gone);
    CHECK(letters.all().back().actor == to);
    CHECK_THAT(letters.all().back().type_name, Contains("add"));
  }
  CHECK(at_rest(*rt).dead_letters == 2);
}

TEST_CASE("messages beyond the limit of those that cross to one actor are dead letters",
          "[several][G5][G10]") {
  auto const v = GENERATE(from_range(variants_of_several()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const here = rt->launch<messenger>("here");
  auto const asleep = rt->launch<orderly>("asleep", {.device = 1, .capacity = 4, .active = false});
  REQUIRE_FALSE(tell(here, dictate{asleep.id(), 0, 1, 1500}));
  std::uint64_t dead = 0;  // how many of the four had found room by then depends on timing
  REQUIRE(eventually([&] {
    auto const t = rt->snapshot();
    dead = t.dead_letters;
    return t.waiting == 4 && t.crossing + dead == 1496 && dead >= 1500 - 1028 && dead <= 1500 - 1024;
  }));
  REQUIRE_FALSE(activate(asleep));
  REQUIRE(eventually([&] { return handled_by(*rt, asleep.id()) == 1500 - dead; }));
  CHECK(ask_last(asleep, get{}).disorder <= 4);  // a gap where one of the four made room for a later one
  CHECK(at_rest(*rt).dead_letters == dead);
}

TEST_CASE("a stop turns crossing messages into dead letters", "[several][G1][G10]") {
  auto const v = GENERATE(from_range(variants_of_several()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const here = rt->launch<messenger>("here");
  auto const asleep = rt->launch<orderly>("asleep", {.device = 1, .capacity = 2, .active = false});
  REQUIRE_FALSE(tell(here, dictate{asleep.id(), 0, 1, 20}));
  REQUIRE(crossing(*rt, 18));
  CHECK(rt->stop().stopped);
  CHECK(rt->snapshot().dead_letters == 18);
  CHECK(rt->snapshot().crossing == 0);
}

TEST_CASE("a checkpoint keeps crossing messages", "[several][G1][G2][G9]") {
  auto const v = GENERATE(from_range(variants_of_several()));
  INFO(v.name);
  scratch_file const file;
  auto const finish = [&](rondo::runtime& rt) {
    auto const asleep = rt.find<orderly>("asleep").value();
    REQUIRE(crossing(rt, 18));
    REQUIRE_FALSE(activate(asleep));
    REQUIRE(eventually([&] { return handled_by(rt, asleep.id()) == 20; }));
    CHECK(ask_last(asleep, get{}).disorder == 0);
    CHECK(at_rest(rt).dead_letters == 0);
  };
  {
    auto const rt = start(v.settings);
    auto const here = rt->launch<messenger>("here");
    auto const asleep = rt->launch<orderly>("asleep", {.device = 1, .capacity = 2, .active = false});
    REQUIRE_FALSE(tell(here, dictate{asleep.id(), 0, 1, 20}));
    REQUIRE(crossing(*rt, 18));
    rondo::checkpoint(*rt, file.path);
    finish(*rt);
  }
  auto const again = start(v.settings);
  rondo::restore(*again, file.path);
  finish(*again);

  auto one = v.settings;
  one.device = "cpu";
  auto const small = start(one);
  CHECK_THROWS_WITH(rondo::restore(*small, file.path), Contains("device 1") && Contains("asleep"));
}

TEST_CASE("a checkpoint during traffic is consistent across all devices", "[several][G1][G9]") {
  auto const v = GENERATE(from_range(variants_of_several()));
  INFO(v.name);
  scratch_file const file;
  auto const rt = start(v.settings);
  auto const n = rt->device_count();
  std::vector<rondo::actor_ref<messenger>> sources;
  std::vector<rondo::actor_ref<adder>> targets;
  for (std::uint32_t d = 0; d < n; ++d) {
    sources.push_back(rt->launch<messenger>("source " + std::to_string(d), {.device = d, .capacity = 600}));
    targets.push_back(
        rt->launch<adder>("target " + std::to_string(d), {.device = (d + 1) % n, .capacity = 4}));
  }
  for (std::uint32_t i = 0; i < 500; ++i)
    for (std::uint32_t d = 0; d < n; ++d) REQUIRE_FALSE(tell(sources[d], relay{targets[d].id(), 1}));
  auto const check = [&](rondo::runtime& of) {
    for (std::uint32_t d = 0; d < n; ++d) {
      auto const target = of.find<adder>("target " + std::to_string(d)).value();
      CHECK(eventually([&] { return ask_last(target, get{}).value == 500; }));
    }
    CHECK(at_rest(of).dead_letters == 0);
  };
  rondo::checkpoint(*rt, file.path);
  check(*rt);
  rt->stop();
  auto const again = start(v.settings);
  rondo::restore(*again, file.path);
  check(*again);
}

TEST_CASE("an upgrade affects all devices", "[several]") {
  auto const v = GENERATE(from_range(variants_of_several()));
  INFO(v.name);
  in_reach<gate> const reached;
  auto settings = v.settings;
  settings.stop_timeout_ms = 300;
  auto const rt = start(settings);
  gate_keeper const keeper{*reached};
  std::vector<rondo::actor_ref<adder>> actors;
  for (std::uint32_t d = 0; d < rt->device_count(); ++d) {
    actors.push_back(rt->launch<adder>("actor " + std::to_string(d), {.device = d}));
    REQUIRE_FALSE(tell(actors.back(), add{d + 1}));
  }
  hold_at(actors.back(), *reached);  // the last device is not quiet, so none is upgraded
  CHECK_THROWS_WITH(rondo::upgrade(*rt, rondo::use<testbed_next>), Contains("no safepoint"));
  CHECK(rt->find<adder>("actor 0"));
  keeper.open();
  REQUIRE(eventually([&] {
    try {
      rondo::upgrade(*rt, rondo::use<testbed_next>);
      return true;
    } catch (std::runtime_error const&) {
      return false;
    }
  }));
  for (std::uint32_t d = 0; d < rt->device_count(); ++d) {
    auto const now = rt->find<counting_adder>("actor " + std::to_string(d)).value();
    CHECK(now.id() == actors[d].id());
    CHECK(ask(now, get_more{}).value().sum == d + 1);
  }
  at_rest(*rt);
}

TEST_CASE("the devices of a runtime share one fate", "[several][G9]") {
  auto const v = GENERATE(from_range(variants_of_several()));
  if (!v.settings.device.ends_with("emulated")) return;
  INFO(v.name);
  auto const [rt, device] = start_losable(v.settings);
  listener<std::string> reports;
  auto const subscription = rt->on_failure_report(reports.handler());
  auto const here = rt->launch<adder>("here");
  auto const there = rt->launch<adder>("there", {.device = rt->device_count() - 1});
  REQUIRE(ask(there, get{}));
  pending<total> near, far;
  here.ask(later{}, rondo::ask_options{}, near.handler());
  there.ask(later{}, rondo::ask_options{}, far.handler());
  device.lose();
  CHECK(near.wait() == errc::device_lost);
  CHECK(far.wait() == errc::device_lost);
  CHECK(here.try_tell(add{1}) == errc::device_lost);
  CHECK(rt->try_launch<adder>("late").error() == errc::device_lost);
  REQUIRE(reports.wait_for(1));
}
