// G1: an accepted message ends exactly once, and the counters prove it.
#include <bit>

#include "tests/conformance/harness.hpp"

using namespace conformance;

TEST_CASE("each accepted message is handled once, and the counters agree", "[G1]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("adder", {.capacity = 700, .pinned = pinned});
  std::uint64_t accepted = 0;
  std::vector<std::thread> senders;
  std::atomic<std::uint64_t> told{0};
  for (int s = 0; s < 3; ++s)
    senders.emplace_back([&, s] {
      for (int i = 0; i < 200; ++i)
        if (!tell(actor, add{1}, {.priority = static_cast<std::uint8_t>(100 + s * 20)})) ++told;
    });
  for (auto& t : senders) t.join();
  accepted = told;
  CHECK(accepted == 600);  // an awaited tell reports the outcome; here there was always room
  CHECK(ask(actor, get{}, 0).value().value == accepted);
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  auto const& n = report_of(t, actor.id()).now.totals;
  CHECK(n.accepted == accepted + 1);
  CHECK(n.handled == accepted + 1);
  CHECK(n.rejected + n.dead + n.failures == 0);
  CHECK(t.dead_letters == 0);
}

TEST_CASE("the peak depth of an actor counts what has waited for it, however it gets its mail", "[G1]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const asleep = rt->launch<adder>("asleep", {.pinned = pinned, .active = false});
  for (int i = 0; i < 20; ++i) REQUIRE_FALSE(tell(asleep, add{1}));
  REQUIRE_FALSE(activate(asleep));
  CHECK(ask(asleep, get{}, 0).value().value == 20);
  auto const alone = rt->launch<adder>("alone", {.pinned = pinned});
  CHECK(ask(alone, get{}).value().value == 0);
  auto const t = at_rest(*rt);
  if (!rondo::with_telemetry) return;
  CHECK(report_of(t, asleep.id()).now.totals.peak_depth >= 20);
  CHECK(report_of(t, alone.id()).now.totals.peak_depth == 1);
}

TEST_CASE("a message that its actor does not accept ends as a dead letter or a rejection", "[G1]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  listener<rondo::dead_letter> letters;
  auto const subscription = rt->on_dead_letter(letters.handler());
  auto const actor = rt->launch<journal>("strict");
  // The compiler cannot catch a ref of the wrong behaviour here, so the actor itself must refuse.
  auto const stranger = std::bit_cast<rondo::actor_ref<adder>>(actor);
  CHECK_FALSE(tell(stranger, add{7}));
  CHECK(ask(stranger, get{}).error() == errc::unknown_message);
  REQUIRE(letters.wait_for(1));
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  auto const& n = report_of(t, actor.id()).now.totals;
  CHECK(n.accepted == 2);
  CHECK(n.handled == 0);
  CHECK(n.rejected == 1);
  CHECK(n.dead == 1);
  auto const letter = letters.all().front();
  CHECK(letter.reason == errc::unknown_message);
  CHECK(letter.actor_name == "strict");
  CHECK(letter.type_name == rondo::type_name<add>);
}

TEST_CASE("terminations, failures and quarantine lose no message", "[G1]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  listener<rondo::dead_letter> letters;
  auto const subscription = rt->on_dead_letter(letters.handler());
  std::uint64_t accepted = 0;
  for (auto const how : {rondo::termination::drain, rondo::termination::discard})
    for (int round = 0; round < 4; ++round) {
      auto const actor = rt->launch<adder>(
          "victim",
          {.capacity = 100, .active = false, .supervise = {.poison_after = 2, .max_restarts = 1000}});
      pending<total> asked;
      for (int i = 0; i < 20; ++i) {
        if (!tell(actor, add{1}, {.priority = static_cast<std::uint8_t>(i * 12)})) ++accepted;
        if (i % 5 == 0 && !tell(actor, boom{})) ++accepted;
      }
      actor.ask(get{}, rondo::ask_options{}, asked.handler());
      ++accepted;
      REQUIRE_FALSE(terminate(actor, how));
      auto const answer = asked.wait();
      CHECK(answer == (how == rondo::termination::drain ? errc::ok : errc::terminated));
      CHECK(asked.calls->load() == 1);
    }
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  CHECK(t.retired.accepted == accepted);
  CHECK(t.retired.handled == 4 * 21);
  CHECK(t.retired.rejected == 4);
  CHECK(t.retired.dead == 4 * 4 + 4 * 24);
  CHECK(t.retired.failures == 4 * 4 * 2);
  REQUIRE(letters.wait_for(t.retired.dead));
  std::size_t quarantined = 0, terminated = 0;
  for (auto const& l : letters.all()) {
    quarantined += l.reason == errc::quarantined;
    terminated += l.reason == errc::terminated;
  }
  CHECK(quarantined == 4 * 4);
  CHECK(terminated == 4 * 24);
  CHECK(t.dead_letters == t.retired.dead);
}

TEST_CASE("mail of a deactivated actor is counted as waiting, by priority", "[G1][G8]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("sleeper", {.capacity = 200, .active = false});
  for (int level = 0; level < 16; ++level)
    for (int i = 0; i <= level; ++i)
      REQUIRE_FALSE(tell(actor, add{1}, {.priority = static_cast<std::uint8_t>(level * 17)}));
  auto const found = inspect(actor);
  CHECK(found.now.state == rondo::lifecycle::launched);
  CHECK(found.now.waiting == 16 * 17 / 2);
  REQUIRE(found.depths.size() == 16);  // more than one page of the report
  for (std::uint32_t i = 0; i < 16; ++i) {
    CHECK(found.depths[i].priority == (15 - i) * 17);
    CHECK(found.depths[i].messages == 16 - i);
  }
  auto const t = at_rest(*rt, 16 * 17 / 2);
  CHECK(t.conserved());
  CHECK(report_of(t, actor.id()).now.totals.handled == 0);
  REQUIRE_FALSE(activate(actor));
  CHECK(ask(actor, get{}, 0).value().value == 16 * 17 / 2);
  CHECK(at_rest(*rt).conserved());
}
