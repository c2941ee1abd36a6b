// G13: what an actor asks for itself comes without room in its mailbox: it goes on, and hears of room in another's.
#include "runtime/checkpoint.hpp"
#include "tests/conformance/harness.hpp"

using namespace conformance;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint32_t endless = ~0u;

std::uint32_t left_of(rondo::actor_ref<walker> const& w) { return ask_last(w, steps_left{}).steps; }

/// Waits until the actor has taken more steps.
bool walks_on(shared_word const& steps) {
  std::uint32_t const before = steps;
  return eventually([&] { return steps != before; });
}

}  // namespace

TEST_CASE("an actor goes on until it is done, though its mailbox is full", "[G13]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  shared_word steps;
  auto const actor = rt->launch<walker>("walker", {.capacity = 1, .pinned = pinned});
  REQUIRE_FALSE(tell(actor, walk{steps.get(), 100, 0}));
  CHECK(eventually([&] { return steps == 100u; }));
  CHECK(left_of(actor) == 0);
  CHECK(at_rest(*rt).conserved());
  CHECK(steps == 100);
}

TEST_CASE("all lanes of a team go on together", "[G13]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  shared_word steps;
  auto const actor = rt->launch<walkers_together>("walkers");
  REQUIRE_FALSE(tell(actor, walk{steps.get(), 50, 0}));
  CHECK(eventually([&] { return steps == 50u; }));
  at_rest(*rt);
  CHECK(steps == 50);
}

TEST_CASE(
    "an actor that always goes on keeps neither its own mail nor other actors waiting, and ends when it is "
    "told",
    "[G13][G8]") {
  auto v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  v.settings.teams = 1;
  auto const rt = start(v.settings);
  shared_word steps;
  auto const actor = rt->launch<walker>("walker", {.pinned = pinned});
  auto const other = rt->launch<adder>("other");
  REQUIRE_FALSE(tell(actor, walk{steps.get(), endless, 0}));
  for (std::uint64_t i = 1; i <= 5; ++i) {
    REQUIRE_FALSE(tell(other, add{1}));
    CHECK(ask(other, get{}).value().value == i);
    CHECK(left_of(actor) != 0);
    CHECK(walks_on(steps));
  }
  REQUIRE_FALSE(terminate(actor, rondo::termination::drain));
  std::uint32_t const at_end = steps;
  CHECK(ask(other, get{}).value().value == 5);
  CHECK(steps == at_end);
  at_rest(*rt);
}

TEST_CASE("a deactivated actor does not go on before it is activated, nor does one that is saved",
          "[G13][G7]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  scratch_file const file;
  shared_word steps;
  {
    auto const rt = start(v.settings);
    auto const actor = rt->launch<walker>("walker", {.pinned = pinned});
    REQUIRE_FALSE(tell(actor, walk{steps.get(), endless, 0}));
    CHECK(walks_on(steps));
    REQUIRE_FALSE(deactivate(actor));
    std::uint32_t const asleep = steps;
    std::this_thread::sleep_for(5ms);
    CHECK(steps == asleep);
    REQUIRE_FALSE(activate(actor));
    CHECK(walks_on(steps));
    REQUIRE_FALSE(deactivate(actor));
    rondo::checkpoint(*rt, file.path);
  }
  std::uint32_t const saved = steps;
  auto const rt = start(v.settings);
  rondo::restore(*rt, file.path);
  auto const actor = rt->find<walker>("walker").value();
  std::this_thread::sleep_for(5ms);
  CHECK(steps == saved);
  REQUIRE_FALSE(activate(actor));
  CHECK(walks_on(steps));
}

TEST_CASE("an actor that fails when it goes on is restarted, and then stands still", "[G13][G9]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  listener<std::string> reports;
  auto const subscription = rt->on_failure_report(reports.handler());
  shared_word steps;
  auto const actor = rt->launch<walker>("walker", {.pinned = pinned});
  REQUIRE_FALSE(tell(actor, walk{steps.get(), 20, 10}));
  REQUIRE(reports.wait_for(1));
  CHECK_THAT(reports.all().front(), Contains("walker") && Contains("again"));
  CHECK(left_of(actor) == 0);
  CHECK(steps == 10);
  auto const idle = rt->launch<forgetful>("forgetful", {.pinned = pinned});
  REQUIRE_FALSE(tell(idle, steps_left{}));
  REQUIRE(reports.wait_for(2));
  CHECK_THAT(reports.all().back(), Contains("forgetful") && Contains("again"));
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  CHECK(report_of(t, actor.id()).now.totals.failures == 1);
}

// It stayed, closed and without mail that could have woken it, and nobody heard that it had ended.
TEST_CASE("an actor that fails when it goes on, and is not restarted, ends", "[G13][G9]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  shared_word steps;
  auto const actor =
      rt->launch<walker>("walker", {.pinned = pinned, .supervise = {.rule = rondo::on_failure::stop}});
  REQUIRE_FALSE(tell(actor, walk{steps.get(), 20, 10}));
  CHECK(eventually([&] { return !rt->listed(actor.id()); }));
  CHECK(steps == 10);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("actors that wait for room send all in order, and hear of room only when there is some",
          "[G13][G2]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  std::uint32_t const count = v.settings.device == "ptx" ? 30 : 300;
  auto const target = rt->launch<orderly>("target", {.capacity = 4, .pinned = pinned, .active = false});
  std::vector<rondo::actor_ref<feeder>> feeders;
  for (std::uint32_t s = 0; s < 3; ++s) {
    feeders.push_back(rt->launch<feeder>("feeder " + std::to_string(s)));
    REQUIRE_FALSE(tell(feeders.back(), feed{target.id(), s, count}));
  }
  std::uint32_t left = 0;
  for (auto const& f : feeders) {
    auto const r = ask(f, get{}).value();
    CHECK(r.rooms == 0);
    left += r.left;
  }
  CHECK(left == 3 * count - 4);
  REQUIRE_FALSE(activate(target));
  CHECK(eventually([&] { return ask_last(target, get{}).handled == 3 * count; }));
  auto const told = ask_last(target, get{});
  CHECK(told.handled == 3 * count);
  CHECK(told.disorder == 0);
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  CHECK(t.dead_letters == 0);
}

TEST_CASE("an actor that waits for room hears when the other is gone", "[G13][G8]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const target = rt->launch<orderly>("target", {.capacity = 1, .pinned = pinned, .active = false});
  auto const sender = rt->launch<feeder>("feeder", {.pinned = pinned});
  REQUIRE_FALSE(tell(sender, feed{target.id(), 0, 5}));
  CHECK(ask(sender, get{}).value().left == 4);
  REQUIRE_FALSE(terminate(target, rondo::termination::discard));
  CHECK(eventually([&] { return ask(sender, get{}).value().gone == 1; }));
  CHECK(ask(sender, get{}).value().rooms == 1);
}

TEST_CASE("an actor that waits for room is told to look again after it was restored", "[G13][G7]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  scratch_file const file;
  {
    auto const rt = start(v.settings);
    auto const target = rt->launch<orderly>("target", {.capacity = 1, .active = false});
    auto const sender = rt->launch<feeder>("feeder");
    REQUIRE_FALSE(tell(sender, feed{target.id(), 0, 5}));
    CHECK(ask(sender, get{}).value().left == 4);
    rondo::checkpoint(*rt, file.path);
  }
  auto const rt = start(v.settings);
  rondo::restore(*rt, file.path);
  auto const target = rt->find<orderly>("target").value();
  REQUIRE_FALSE(activate(target));
  CHECK(eventually([&] { return ask_last(target, get{}).handled == 5; }));
  CHECK(ask_last(target, get{}).disorder == 0);
}
