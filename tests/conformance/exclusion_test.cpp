// G4 and G5: one handler at a time, and the behaviour of a full mailbox.
#include "tests/conformance/harness.hpp"

using namespace conformance;

TEST_CASE("no two handlers of one actor run at once, including wide messages", "[G4]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<exclusive>("exclusive", {.capacity = 64, .pinned = pinned});
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> tiles{0};
  std::vector<std::thread> senders;
  for (std::uint32_t s = 0; s < 3; ++s)
    senders.emplace_back([&, s] {
      for (std::uint32_t i = 0; i < 100; ++i) {
        auto const priority = static_cast<std::uint8_t>(i % 7 == 0 ? 200 : 128);
        bool const is_wide = (i + s) % 10 == 0;
        error_code ec;
        do
          ec = is_wide ? tell(actor, occupy_wide{7}, {.priority = priority})
                       : tell(actor, occupy{i % 50}, {.priority = priority});
        while (ec == errc::mailbox_full);
        if (ec) return;
        ++sent;
        if (is_wide) tiles += 7;
      }
    });
  for (auto& t : senders) t.join();
  CHECK(sent == 300);
  auto const r = ask_last(actor, count_overlaps{});
  CHECK(r.steps == sent);
  CHECK(r.tiles == tiles);
  CHECK(r.overlaps == 0);
}

TEST_CASE("a mailbox holds exactly its capacity, then reports that it is full", "[G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  for (std::uint32_t const capacity : {1u, 3u, 32u, 33u, 100u}) {
    INFO("capacity " << capacity);
    auto const actor = rt->launch<adder>("bounded", {.capacity = capacity, .active = false});
    for (std::uint32_t i = 0; i < capacity; ++i) REQUIRE_FALSE(tell(actor, add{1}));
    CHECK(tell(actor, add{1}) == errc::mailbox_full);
    CHECK(ask(actor, get{}).error() == errc::mailbox_full);
    CHECK(tell(actor, add{1}, {.priority = 255}) == errc::mailbox_full);
    REQUIRE_FALSE(activate(actor));
    REQUIRE(eventually([&] {  // until the mailbox has room for the question
      auto const answer = ask(actor, get{});
      return answer && answer->value == capacity;
    }));
    REQUIRE_FALSE(terminate(actor, rondo::termination::drain));
  }
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  CHECK(t.retired.dead == 0);
}

TEST_CASE("a tell that does not wait is refused by a full mailbox, or waits for it in the host", "[G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  listener<rondo::dead_letter> letters;
  auto const subscription = rt->on_dead_letter(letters.handler());
  auto const actor = rt->launch<adder>("bounded", {.capacity = 4, .active = false});
  for (int i = 0; i < 4; ++i) REQUIRE_FALSE(actor.try_tell(add{1}));
  std::vector<add> const pair{{10}, {10}};
  std::uint64_t accepted = 4;
  auto const one = actor.try_tell(add{50}), two = actor.try_tell(std::span<add const>(pair));
  if (shares_memory(v)) CHECK((one == errc::mailbox_full && two == errc::mailbox_full));
  accepted += (one ? 0 : 50) + (two ? 0 : 20);
  // Once the device has sent something back, nothing is accepted.
  CHECK(eventually([&] { return actor.try_tell(add{0}) == errc::mailbox_full; }));
  REQUIRE_FALSE(activate(actor));
  CHECK(eventually([&] { return ask_last(actor, get{}).value == accepted; }));
  CHECK(letters.count() == 0);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("while a handler runs, a mailbox has room again for all that was handled before it", "[G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  in_reach<gate> const reached;
  gate& at = *reached;
  auto const rt = start(v.settings);
  gate_keeper const keeper{at};
  constexpr std::uint32_t capacity = 16;
  auto const actor = rt->launch<adder>("held", {.capacity = capacity, .active = false});
  for (std::uint32_t i = 1; i < capacity; ++i) REQUIRE_FALSE(tell(actor, add{1}));
  auto const before = at.entered.load(rondo::memory_order::acquire);
  REQUIRE_FALSE(tell(actor, hold{&at}));
  REQUIRE_FALSE(activate(actor));
  REQUIRE(eventually([&] { return at.entered.load(rondo::memory_order::acquire) > before; }));
  // A device with its own memory tells its host of room, a moment later.
  for (std::uint32_t i = 1; i < capacity; ++i) CHECK(eventually([&] { return !tell(actor, add{1}); }));
  CHECK(tell(actor, add{1}) == errc::mailbox_full);
  keeper.open();
  REQUIRE(eventually([&] {
    auto const answer = ask(actor, get{});
    return answer && answer->value == 2 * (capacity - 1);
  }));
}

TEST_CASE("a batch is accepted as a whole or not at all", "[G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("bounded", {.capacity = 10, .active = false});
  std::vector<add> const six(6, add{1});
  REQUIRE_FALSE(actor.try_tell(std::span<add const>(six)));
  auto const second = actor.try_tell(std::span<add const>(six));
  CHECK(second == (shares_memory(v) ? errc::mailbox_full : errc::ok));
  // A batch that waits in the host is not overtaken.
  CHECK(tell(actor, add{1}) == (shares_memory(v) ? errc::ok : errc::mailbox_full));
  CHECK(inspect(actor).now.waiting == (shares_memory(v) ? 7u : 6u));
  REQUIRE_FALSE(activate(actor));
  CHECK(eventually([&] { return ask_last(actor, get{}).value == (shares_memory(v) ? 7u : 12u); }));
}

TEST_CASE("tells that wait for room complete when there is room, and none is lost", "[G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("bounded", {.capacity = 4, .active = false});
  for (int i = 0; i < 4; ++i) REQUIRE_FALSE(tell(actor, add{1}));
  constexpr int senders = 40;
  std::atomic<int> completed{0}, failed{0};
  for (int i = 0; i < senders; ++i)
    actor.tell(add{10}, {.wait_for_room = true}, [&](error_code ec) {
      failed += ec ? 1 : 0;
      ++completed;
    });
  CHECK(tell(actor, add{1000}) == errc::mailbox_full);  // the other tells still wait: there is no new room
  CHECK(completed == 0);
  REQUIRE_FALSE(activate(actor));
  REQUIRE(eventually([&] { return completed == senders; }));
  CHECK(failed == 0);
  REQUIRE(eventually([&] {
    auto const sum = ask(actor, get{});
    return sum && sum.value().value == 4 + 10 * senders;
  }));
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("a sender that waits for room is notified when the actor terminates", "[G5][G7]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("bounded", {.capacity = 1, .active = false});
  REQUIRE_FALSE(tell(actor, add{1}));
  std::promise<error_code> waiter;
  auto waited = waiter.get_future();
  actor.tell(add{1}, {.wait_for_room = true}, [&](error_code ec) { waiter.set_value(ec); });
  CHECK(tell(actor, add{1}) == errc::mailbox_full);
  REQUIRE_FALSE(terminate(actor, rondo::termination::discard));
  REQUIRE(waited.wait_for(patience) == std::future_status::ready);
  CHECK(waited.get() == errc::actor_gone);
}

TEST_CASE("an actor that sends to a full actor gets an error and continues", "[G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const full = rt->launch<adder>("full", {.capacity = 1, .active = false});
  REQUIRE_FALSE(tell(full, add{1}));
  auto const asker = rt->launch<messenger>("asker");
  CHECK(ask(asker, consult{full.id(), 1}).value().value == ~0ull);
  REQUIRE_FALSE(activate(full));
  // The actor answers before it releases the slot of the question, so its only slot may be in use for a moment.
  REQUIRE(eventually([&] { return ask(full, get{}).has_value(); }));
  CHECK(eventually([&] { return ask(asker, consult{full.id(), 1}).value().value == 1 + 7; }));
}
