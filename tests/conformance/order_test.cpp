// G2 and G3: the order of one sender's messages, exact priorities, the starvation limit.
#include <algorithm>
#include <array>
#include <random>

#include "tests/conformance/harness.hpp"

using namespace conformance;

TEST_CASE("messages of one sender at one priority are handled in the order sent", "[G2]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<orderly>("orderly", {.capacity = 50, .pinned = pinned});
  constexpr std::uint32_t per_level = 60;
  std::atomic<std::uint64_t> sent{0};
  std::vector<std::thread> senders;
  for (std::uint32_t s = 0; s < 3; ++s)
    senders.emplace_back([&, s] {
      for (std::uint32_t i = 0; i < per_level; ++i)
        for (std::uint32_t level = 0; level < 4; ++level) {
          note const m{s, level, i};
          rondo::tell_options const how{.priority = note_priority(level)};
          error_code ec;
          while ((ec = tell(actor, m, how)) == errc::mailbox_full) std::this_thread::yield();
          if (!ec) ++sent;
        }
    });
  for (auto& t : senders) t.join();
  CHECK(sent == 3 * 4 * per_level);
  auto const t = ask_last(actor, get{});
  CHECK(t.handled == sent);
  CHECK(t.disorder == 0);
}

TEST_CASE("messages from actor to actor also keep their order", "[G2]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  constexpr std::uint32_t each = 100;
  // Room for all of them and for the question: the sources drop refused messages.
  auto const target = rt->launch<orderly>("target", {.capacity = 4 * 4 * each + 1});
  std::vector<rondo::actor_ref<messenger>> sources;
  for (int s = 0; s < 4; ++s) sources.push_back(rt->launch<messenger>("source" + std::to_string(s)));
  for (std::uint32_t level = 0; level < 4; ++level)
    for (std::uint32_t s = 0; s < 4; ++s)
      REQUIRE_FALSE(tell(sources[s], dictate{target.id(), s, level, each}));
  REQUIRE(eventually([&] { return ask(target, get{}, 0).value().handled == 4 * 4 * each; }));
  CHECK(ask(target, get{}).value().disorder == 0);
}

TEST_CASE("one thread's messages to several actors keep their order at each of them, and arrive once",
          "[G1][G2]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  std::vector<rondo::actor_ref<orderly>> actors;
  for (int a = 0; a < 5; ++a)
    actors.push_back(
        rt->launch<orderly>("orderly" + std::to_string(a), {.capacity = 2000, .pinned = pinned}));
  // Actors in turn, pairs for one of them, and repetitions at every distance within a window of the I/O team.
  constexpr std::uint32_t pattern[] = {0, 1, 2, 3, 4, 0, 0, 1, 2, 1, 3, 3, 2, 4, 1, 0, 4};
  std::array<std::uint32_t, 5> sent{};
  for (int i = 0; i < 50; ++i)  // fewer than the submission ring holds: the asks are not to find it full
    for (auto const a : pattern) {
      while (actors[a].try_tell(note{0, 1, sent[a]})) std::this_thread::yield();
      ++sent[a];
    }
  for (std::uint32_t a = 0; a < 5; ++a) {
    auto const t = ask(actors[a], get{}).value();
    CHECK(t.handled == sent[a]);
    CHECK(t.disorder == 0);
  }
  CHECK(rt->snapshot().dead_letters == 0);
}

TEST_CASE("tells that do not wait keep their order through the submission ring", "[G2]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<orderly>("orderly", {.capacity = 600, .pinned = pinned});
  std::uint32_t sequence = 0;
  for (int i = 0; i < 50; ++i) {
    while (actor.try_tell(note{0, 1, sequence})) std::this_thread::yield();
    ++sequence;
    std::vector<note> group;
    for (std::uint32_t k = 0; k < 9; ++k) group.push_back({0, 1, sequence + k});
    while (actor.try_tell(std::span<note const>(group))) std::this_thread::yield();
    sequence += 9;
  }
  auto const t = ask(actor, get{}).value();  // the same sender and priority: handled after all of them
  CHECK(t.handled == sequence);
  CHECK(t.disorder == 0);
}

TEST_CASE("at each pick the highest priority comes first, and the oldest within it", "[G3]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto settings = v.settings;
  settings.starvation_limit = 1'000'000;
  in_reach<gate> const reached;
  gate& at = *reached;
  auto const rt = start(settings);
  gate_keeper const keeper{at};
  auto const actor = rt->launch<journal>("journal", {.capacity = 500});
  hold_at(actor, at);
  std::mt19937 random{20'260'101};
  struct sent {
    std::uint32_t value;
    std::uint8_t priority;
  };
  std::vector<sent> messages;
  for (std::uint32_t i = 0; i < 300; ++i) {
    auto const p = static_cast<std::uint8_t>(i % 3 == 0 ? 128 : random() & 255);
    messages.push_back({i, p});
    REQUIRE_FALSE(tell(actor, entry{i}, {.priority = p}));
  }
  keeper.open();
  std::ranges::stable_sort(messages, [](sent const& a, sent const& b) { return a.priority > b.priority; });
  std::vector<std::uint32_t> expected;
  for (auto const& m : messages) expected.push_back(m.value);
  REQUIRE(eventually([&] { return ask(actor, read_from{0}, 0).value().total == 300; }));
  CHECK(read_all(actor) == expected);
}

// Regression: the slot of the oldest message was released instead, so that message was lost and the urgent one handled
// twice.
TEST_CASE("an urgent message for a batch handler is handled once, and the older ones after it", "[G1][G3]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<batcher>("batcher", {.active = false});
  REQUIRE_FALSE(tell(actor, sample{1}));
  REQUIRE_FALSE(tell(actor, sample{10}));
  REQUIRE_FALSE(tell(actor, sample{100}, {.priority = 200}));
  REQUIRE_FALSE(activate(actor));
  CHECK(ask(actor, get{}, 0).value().handled == 111);  // the sum of the samples
}

TEST_CASE("a message that arrives while a handler runs is picked by its priority", "[G3]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  in_reach<gate> const one, other;
  gate &first = *one, &second = *other;
  auto const rt = start(v.settings);
  gate_keeper const keep_first{first}, keep_second{second};
  auto const actor = rt->launch<journal>("journal", {.capacity = 100});
  hold_at(actor, first);
  for (std::uint32_t i = 0; i < 5; ++i) REQUIRE_FALSE(tell(actor, entry{i}));
  REQUIRE_FALSE(tell(actor, hold{&second}, {.priority = 200}));
  keep_first.open();
  REQUIRE(eventually([&] {
    return second.entered.load(rondo::memory_order::acquire) == 1;
  }));  // before the five older messages
  REQUIRE_FALSE(tell(actor, entry{100}, {.priority = 255}));
  REQUIRE_FALSE(tell(actor, entry{101}, {.priority = 129}));
  REQUIRE_FALSE(tell(actor, entry{102}, {.priority = 127}));
  keep_second.open();
  REQUIRE(eventually([&] { return ask(actor, read_from{0}, 0).value().total == 8; }));
  CHECK(read_all(actor) == std::vector<std::uint32_t>{100, 101, 0, 1, 2, 3, 4, 102});
}

// The team of a pinned actor may take what was sent meanwhile only when its handler has ended. So none is awaited.
TEST_CASE("a pinned actor picks an urgent message before those that were sent earlier", "[G3]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  in_reach<gate> const reached;
  gate& at = *reached;
  auto const rt = start(v.settings);
  gate_keeper const keeper{at};
  auto const actor = rt->launch<journal>("journal", {.capacity = 100, .pinned = true});
  hold_at(actor, at);
  for (std::uint32_t i = 0; i < 30; ++i) REQUIRE_FALSE(actor.try_tell(entry{i}));
  REQUIRE_FALSE(actor.try_tell(entry{100}, {.priority = 255}));
  REQUIRE_FALSE(actor.try_tell(entry{30}));
  keeper.open();
  REQUIRE(eventually([&] { return ask(actor, read_from{0}, 0).value().total == 32; }));
  std::vector<std::uint32_t> expected{100};
  for (std::uint32_t i = 0; i <= 30; ++i) expected.push_back(i);
  CHECK(read_all(actor) == expected);
}

TEST_CASE("a low message is overtaken at most as often as the starvation limit allows", "[G3]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto settings = v.settings;
  settings.starvation_limit = 5;
  in_reach<gate> const reached;
  gate& at = *reached;
  auto const rt = start(settings);
  gate_keeper const keeper{at};
  auto const actor = rt->launch<journal>("journal", {.capacity = 100});
  hold_at(actor, at);
  REQUIRE_FALSE(tell(actor, entry{1000}, {.priority = 0}));
  REQUIRE_FALSE(tell(actor, entry{1001}, {.priority = 1}));
  for (std::uint32_t i = 0; i < 40; ++i) REQUIRE_FALSE(tell(actor, entry{i}, {.priority = 255}));
  keeper.open();
  REQUIRE(eventually([&] { return ask(actor, read_from{0}, 255).value().total == 42; }));
  auto const order = read_all(actor);
  auto const place = [&](std::uint32_t value) { return std::ranges::find(order, value) - order.begin(); };
  CHECK(place(1000) == 5);
  CHECK(place(1001) == 11);
}

TEST_CASE("an actor with urgent mail runs before actors with ordinary mail", "[G3]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto settings = v.settings;
  settings.teams = 1;
  constexpr std::size_t each = 8;
  in_reach<gate> const reached;
  gate& at = *reached;
  shared_word turns;
  std::array<shared_word, each> ordinary, urgent;  // the turn of each actor
  auto const rt = start(settings);
  gate_keeper const keeper{at};
  auto const busy = rt->launch<adder>("busy");
  hold_at(busy, at);
  for (auto const& turn : ordinary) REQUIRE_FALSE(tell(rt->launch<adder>(""), mark{turns.get(), turn.get()}));
  for (auto const& turn : urgent)
    REQUIRE_FALSE(tell(rt->launch<adder>(""), mark{turns.get(), turn.get()}, {.priority = 255}));
  keeper.open();
  REQUIRE(eventually([&] { return turns == 2 * each; }));
  REQUIRE(ask(busy, get{}));  // the team has finished all of them, and the gate may be destroyed
  std::uint32_t last_urgent = 0;
  for (auto const& turn : urgent) last_urgent = std::max<std::uint32_t>(last_urgent, turn);
  // The team picks once per actor, and every 64th pick starts with the least urgent queue, so that no actor starves.
  CHECK(std::ranges::count_if(ordinary, [&](auto const& t) { return t < last_urgent; }) <= 1);
}
