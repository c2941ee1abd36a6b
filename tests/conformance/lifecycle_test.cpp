// G7 and G8: the meaning of a ref once its actor is gone, and the states of an actor.
#include "tests/conformance/harness.hpp"

using namespace conformance;

TEST_CASE("a ref of a terminated actor answers that it is gone", "[G7]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  listener<rondo::dead_letter> letters;
  auto const subscription = rt->on_dead_letter(letters.handler());
  auto const actor = rt->launch<adder>("short");
  REQUIRE_FALSE(terminate(actor, rondo::termination::drain));
  CHECK(tell(actor, add{1}) == errc::actor_gone);
  CHECK(tell(actor, add{1}, {.wait_for_room = true}) == errc::actor_gone);
  CHECK(ask(actor, get{}).error() == errc::actor_gone);
  auto const at_once = actor.try_tell(add{1});
  if (shares_memory(v)) {
    CHECK(at_once == errc::actor_gone);
  } else {
    CHECK_FALSE(at_once);
    REQUIRE(letters.wait_for(1));
    CHECK(letters.all().front().reason == errc::actor_gone);
  }
  CHECK(activate(actor) == errc::actor_gone);
  CHECK(deactivate(actor) == errc::actor_gone);
  CHECK(terminate(actor, rondo::termination::discard) == errc::actor_gone);
  CHECK_THROWS_AS(inspect(actor), boost::system::system_error);
}

TEST_CASE("a successor with the same name and cell never gets its predecessors' mail", "[G7]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const first = rt->launch<adder>("name", {.capacity = 8});
  REQUIRE_FALSE(tell(first, add{1}));
  REQUIRE_FALSE(terminate(first, rondo::termination::drain));
  // 64 lives later the cell's word holds the same low bits of the generation.
  for (int life = 1; life < 64; ++life) {
    auto const other = rt->launch<adder>("name", {.capacity = 8});
    REQUIRE(other.id().index == first.id().index);
    REQUIRE_FALSE(terminate(other, rondo::termination::discard));
  }
  auto const last = rt->launch<adder>("name", {.capacity = 8});
  REQUIRE(last.id().index == first.id().index);
  REQUIRE(last.id().generation == first.id().generation + 64);
  CHECK(tell(first, add{100}) == errc::actor_gone);
  CHECK(ask(first, get{}).error() == errc::actor_gone);
  CHECK(terminate(first, rondo::termination::discard) == errc::actor_gone);
  CHECK(ask(last, get{}).value().value == 0);
  CHECK(rt->find<adder>("name").value() == last);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("an address that an actor kept reaches nobody after the actor is gone", "[G7]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const source = rt->launch<messenger>("source");
  auto const old = rt->launch<adder>("target");
  REQUIRE_FALSE(terminate(old, rondo::termination::drain));
  auto const successor = rt->launch<adder>("target");
  REQUIRE(successor.id().index == old.id().index);
  CHECK(ask(source, consult{old.id(), 1}).value().value == ~0ull);  // its request was refused
  CHECK(ask(successor, get{}).value().value == 0);
}

TEST_CASE("a deactivated actor keeps its mail and handles none until it is activated", "[G8]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("actor", {.capacity = 20, .pinned = pinned});
  REQUIRE_FALSE(tell(actor, add{1}));
  REQUIRE_FALSE(deactivate(actor));
  auto const before = inspect(actor);
  CHECK(before.now.state == rondo::lifecycle::deactivated);
  for (int i = 0; i < 10; ++i) REQUIRE_FALSE(tell(actor, add{1}, {.priority = 200}));
  REQUIRE_FALSE(deactivate(actor));  // repeating it changes nothing
  auto const asleep = inspect(actor);
  CHECK(asleep.now.totals.handled == before.now.totals.handled);
  REQUIRE(asleep.depths.size() >= 1);
  CHECK(asleep.depths.front().priority == 200);
  CHECK(asleep.depths.front().messages == 10);
  REQUIRE_FALSE(activate(actor));
  CHECK(ask(actor, get{}).value().value == 11);
  CHECK(inspect(actor).now.state == rondo::lifecycle::active);
}

// Regression: a pinned team without an actor to run took nothing in before its 64th look, and began to count in each
// round.
TEST_CASE("a pinned actor is activated however short the rounds are", "[G8][G11]") {
  auto v = GENERATE(from_range(variants()));
  INFO(v.name);
  v.settings.round_ms = 1;
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("actor", {.pinned = true});
  for (std::uint64_t i = 1; i <= 3; ++i) {
    REQUIRE_FALSE(deactivate(actor));
    REQUIRE_FALSE(tell(actor, add{1}));
    REQUIRE_FALSE(activate(actor));
    CHECK(ask(actor, get{}).value().value == i);
  }
}

// Regression: a caller's operation was reported as done when another caller's was, and was carried out later.
TEST_CASE("an actor that was reported deactivated stays so, whoever activated it before", "[G8]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto settings = v.settings;
  settings.visibility_delay_us = 400;  // the callers' operations arrive at different times
  auto const rt = start(settings);
  auto const actor = rt->launch<adder>("actor", {.capacity = 4000});
  auto const other = rt->launch<adder>("other");
  shared_word handled, at;
  int disturbed = 0;
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 80; ++i) REQUIRE_FALSE(actor.try_tell(mark{handled.get(), at.get()}));
    std::atomic<bool> woke{false};
    std::thread wakes([&] { woke = !activate(actor); });
    std::thread sleeps([&] { deactivate(actor); });
    bool done = !activate(actor);
    wakes.join();
    done = done && woke && !deactivate(actor);  // all activations are reported as done
    std::uint32_t const before = handled;
    // Operations submitted before a question take effect before its answer. A late activation would show up here.
    for (int i = 0; i < 3; ++i) done = done && ask(other, get{}).has_value();
    disturbed += inspect(actor).now.state != rondo::lifecycle::deactivated;
    disturbed += handled != before;
    sleeps.join();
    REQUIRE(done);
  }
  CHECK(disturbed == 0);
  REQUIRE_FALSE(activate(actor));
  CHECK(eventually([&] { return handled == 40 * 80; }));
}

TEST_CASE("an actor launched inactive handles nothing before it is activated", "[G8]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("late", {.active = false});
  REQUIRE_FALSE(tell(actor, add{1}));
  pending<total> asked;
  actor.ask(get{}, rondo::ask_options{}, asked.handler());
  auto const found = inspect(actor);
  CHECK(found.now.state == rondo::lifecycle::launched);
  CHECK(found.now.totals.handled == 0);
  CHECK_FALSE(asked.is_ready());
  REQUIRE_FALSE(activate(actor));
  CHECK_FALSE(asked.wait());
  CHECK(asked.reply->value == 1);
}

TEST_CASE("termination with drain handles waiting mail, with discard dead-letters it", "[G8]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  listener<rondo::dead_letter> letters;
  auto const subscription = rt->on_dead_letter(letters.handler());
  shared_word clock, marks;
  for (auto const how : {rondo::termination::drain, rondo::termination::discard}) {
    bool const drains = how == rondo::termination::drain;
    clock = 0;
    auto const actor = rt->launch<adder>("actor", {.capacity = 30, .pinned = pinned, .active = false});
    for (int i = 0; i < 12; ++i) REQUIRE_FALSE(tell(actor, mark{clock.get(), marks.get()}));
    pending<total> asked;
    actor.ask(get{}, rondo::ask_options{}, asked.handler());
    REQUIRE_FALSE(terminate(actor, how));
    CHECK(clock == (drains ? 12 : 0));
    CHECK(asked.wait() == (drains ? errc::ok : errc::terminated));
    CHECK_FALSE(rt->find<adder>("actor"));
    CHECK(rt->list().empty());
  }
  REQUIRE(letters.wait_for(12));
  for (auto const& l : letters.all()) CHECK(l.reason == errc::terminated);
  auto const t = at_rest(*rt);
  CHECK(t.retired.accepted == 26);
  CHECK(t.retired.handled == 13);
  CHECK(t.retired.dead == 12);
  CHECK(t.retired.rejected == 1);
}

TEST_CASE("termination during traffic ends each message once", "[G8][G1]") {
  auto const v = GENERATE(from_range(variants()));
  auto const how = GENERATE(rondo::termination::drain, rondo::termination::discard);
  INFO(v.name << (how == rondo::termination::drain ? ", drain" : ", discard"));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("actor", {.capacity = 16});
  std::atomic<std::uint64_t> accepted{0}, answered{0}, rejected{0};
  std::vector<std::thread> senders;
  for (int s = 0; s < 3; ++s)
    senders.emplace_back([&, s] {
      for (;;) {
        error_code ec;
        if (s == 0) {
          auto const r = ask(actor, get{});
          if (r) {
            ++accepted, ++answered;
          } else if (r.error() == errc::terminated) {
            ++accepted, ++rejected;
          }
          ec = r ? error_code{} : r.error();
        } else {
          ec = tell(actor, add{1});
          if (!ec) ++accepted;
        }
        if (ec == errc::actor_gone || ec == errc::terminated) return;
      }
    });
  CHECK(eventually([&] { return accepted > 50; }));
  CHECK_FALSE(terminate(actor, how));
  for (auto& t : senders) t.join();
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  CHECK(t.retired.accepted == accepted);
  CHECK(t.retired.rejected == rejected);
  CHECK(t.retired.handled + t.retired.rejected + t.retired.dead == accepted);
}

TEST_CASE("a name is free again after its actor has terminated", "[G8]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  for (int i = 0; i < 20; ++i) {
    auto const actor = rt->launch<adder>("phoenix", {.capacity = i % 2 == 0 ? 8u : 200u});
    CHECK(rt->try_launch<adder>("phoenix").error() == errc::name_taken);
    REQUIRE_FALSE(tell(actor, add{std::uint64_t(i)}));
    CHECK(ask(actor, get{}).value().value == std::uint64_t(i));  // no state of its predecessor
    REQUIRE_FALSE(terminate(actor, rondo::termination::drain));
  }
}

TEST_CASE("on_start runs once before any mail", "[G8]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const before = starts();
  auto const actor = rt->launch<starter>("starter", {.pinned = pinned});
  CHECK(ask(actor, get{}).value().value == 1);
  CHECK(starts() == before + 1);
}

TEST_CASE("after a restart, on_start comes before the mail that waits", "[G8]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  constexpr int times = 20;
  auto const actor = rt->launch<starter>(
      "starter", {.pinned = pinned, .supervise = {.poison_after = 1, .max_restarts = times}});
  for (int i = 0; i < times; ++i) {
    REQUIRE_FALSE(tell(actor, boom{}));
    CHECK(ask(actor, get{}).value().value == 1);  // it has usually come when the restart begins
  }
}
