// Behaviours made of states: what the present state does not take waits until the actor is one that takes it.
#include "runtime/checkpoint.hpp"
#include "tests/conformance/crew.hpp"

using namespace conformance;

namespace {

template <class Valve>
std::uint64_t drops_of(rondo::actor_ref<Valve> const& v) {
  return ask_last(v, read_flow{}).drops;
}

template <class Valve>
void check_states(variant const& v, bool pinned) {
  auto const rt = start(v.settings);
  auto const actor = rt->launch<Valve>("valve", {.pinned = pinned});
  REQUIRE_FALSE(tell(actor, drop{1}));
  REQUIRE_FALSE(tell(actor, drop{2}));
  pending<flow> first;
  actor.ask(read_flow{}, patience, first.handler());
  auto const before = ask_last(actor, read_turns{});
  CHECK(before.flows == 0);
  CHECK(before.started == 1);
  CHECK_FALSE(first.is_ready());
  CHECK(at_rest(*rt, 3).conserved());

  CHECK(ask(actor, turn_on{7}).value().started == 1);
  CHECK_FALSE(first.wait());
  CHECK(first.reply->drops == 712);
  REQUIRE_FALSE(tell(actor, drop{3}));
  CHECK(drops_of(actor) == 7123);

  pending<turns> second;
  actor.ask(turn_on{8}, patience, second.handler());
  REQUIRE_FALSE(tell(actor, drop{4}));
  CHECK(drops_of(actor) == 71234);
  CHECK_FALSE(second.is_ready());
  REQUIRE_FALSE(tell(actor, turn_off{}));
  CHECK_FALSE(second.wait());
  CHECK(second.reply->times_shut == 1);
  CHECK(drops_of(actor) == 8);

  REQUIRE_FALSE(tell(actor, turn_off{}));
  CHECK(ask_last(actor, read_turns{}).flows == 0);
  REQUIRE_FALSE(tell(actor, drop{5}));
  REQUIRE_FALSE(tell(actor, drop{6}, {.priority = 200}));
  REQUIRE_FALSE(tell(actor, flush{1}));
  CHECK(drops_of(actor) == 651);  // the message itself came again after the others
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  CHECK(t.dead_letters == 0);
  CHECK(report_of(t, actor.id()).now.totals.failures == 0);
}

}  // namespace

TEST_CASE("an actor of states handles what its state takes, and the rest when it is another one",
          "[G1][G2]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  check_states<valve>(v, pinned);
  check_states<valve_together>(v, pinned);
}

TEST_CASE("`again` of a state that is over goes nowhere", "[G13]") {
  auto v = GENERATE(from_range(variants()));
  INFO(v.name);
  v.settings.quota = 1;  // so that it comes before another message
  auto const rt = start(v.settings);
  auto const actor = rt->launch<valve>("valve");
  REQUIRE(ask(actor, turn_on{1}));
  REQUIRE_FALSE(tell(actor, drip{}));
  CHECK(ask_last(actor, read_turns{}).times_shut == 1);
  REQUIRE(ask(actor, turn_on{2}));
  CHECK(drops_of(actor) == 2);
  CHECK(report_of(at_rest(*rt), actor.id()).now.totals.failures == 0);
}

TEST_CASE("an actor of states restarts as the first one, which gets what it takes", "[G9]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<valve>("valve", {.pinned = pinned, .supervise = {.poison_after = 1}});
  REQUIRE(ask(actor, turn_on{1}));
  pending<turns> second;
  actor.ask(turn_on{2}, patience, second.handler());
  CHECK(drops_of(actor) == 1);
  REQUIRE_FALSE(tell(actor, burst{}));
  CHECK_FALSE(second.wait());
  CHECK(second.reply->times_shut == 0);
  CHECK(second.reply->started == 1);
  CHECK(drops_of(actor) == 2);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("a checkpoint keeps the state that an actor is", "[G7]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  scratch_file const file;
  {
    auto const rt = start(v.settings);
    auto const actor = rt->launch<valve>("valve");
    REQUIRE(ask(actor, turn_on{1}));
    REQUIRE_FALSE(tell(actor, turn_off{}));
    REQUIRE(ask(actor, turn_on{3}));
    REQUIRE_FALSE(tell(actor, drop{4}));
    CHECK(drops_of(actor) == 34);
    rondo::checkpoint(*rt, file.path);
  }
  auto const rt = start(v.settings);
  rondo::restore(*rt, file.path);
  auto const actor = rt->find<valve>("valve").value();
  CHECK(drops_of(actor) == 34);
  CHECK(ask(actor, read_turns{}).value().times_shut == 1);
}

TEST_CASE("what waits for another state ends with the actor", "[G1][G8]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  overheard w(v);
  auto const actor = w.rt->launch<valve>("valve", {.pinned = pinned});
  REQUIRE_FALSE(tell(actor, drop{1}));
  pending<flow> answer;
  actor.ask(read_flow{}, patience, answer.handler());
  CHECK(ask_last(actor, read_turns{}).flows == 0);
  REQUIRE_FALSE(terminate(actor, rondo::termination::drain));
  CHECK(answer.wait() == errc::terminated);
  w.check_letter(1, actor.id(), errc::terminated);
  CHECK(at_rest(*w.rt).conserved());
}
