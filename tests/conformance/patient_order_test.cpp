// G2 for tells that are not awaited: a tell that waits for room, or for the submission ring, is not overtaken.
#include <boost/asio/cancellation_signal.hpp>

#include "tests/conformance/harness.hpp"

using namespace conformance;

namespace {

/// Counts the outcomes of tells that nobody awaits.
struct outcomes {
  std::atomic<std::uint32_t> ok{0}, full{0}, other{0};
  auto handler() {
    return [this](error_code ec) { ++(!ec ? ok : ec == errc::mailbox_full ? full : other); };
  }
  bool all_ended(std::uint32_t n) const {
    return eventually([&] { return ok + full + other == n; });
  }
};

constexpr rondo::tell_options patiently{.wait_for_room = true};

/// As boost::asio::bind_cancellation_slot, of which g++ 12 says here that it may read something uninitialized.
template <class Handler>
struct cancellable {
  using cancellation_slot_type = boost::asio::cancellation_slot;
  cancellation_slot_type slot;
  Handler handler;
  cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
  template <class... Results>
  void operator()(Results... r) {
    handler(r...);
  }
};
template <class Handler>
cancellable(boost::asio::cancellation_slot, Handler) -> cancellable<Handler>;

}  // namespace

TEST_CASE("tells that wait for room and are not awaited keep their order", "[G2][G5]") {
  // Regression: on devices with their own memory each tell retried independently, and they overtook each other.
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<orderly>("orderly", {.capacity = 3, .active = false});
  constexpr std::uint32_t before = 30, after = 120;
  outcomes told;
  for (std::uint32_t i = 0; i < before; ++i) actor.tell(note{0, 1, i}, patiently, told.handler());
  REQUIRE(eventually([&] { return told.ok == 3; }));
  REQUIRE_FALSE(activate(actor));
  for (std::uint32_t i = before; i < before + after; ++i)
    actor.tell(note{0, 1, i}, patiently, told.handler());
  REQUIRE(told.all_ended(before + after));
  CHECK(told.ok == before + after);
  auto const t = ask_last(actor, get{});
  CHECK(t.handled == before + after);
  CHECK(t.disorder == 0);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("who tells many actors at once hears from each of them that it took its message", "[G1][G5]") {
  // Regression: a GPU's lanes post such messages side by side, and only the first lane told.
  auto const v = GENERATE(from_range(variants()));
  bool const waits = GENERATE(false, true);
  INFO(v.name << (waits ? ", waiting for room" : ""));
  auto const rt = start(v.settings);
  std::vector<rondo::actor_ref<orderly>> actors;
  for (int i = 0; i < 10; ++i) actors.push_back(rt->launch<orderly>("orderly " + std::to_string(i)));
  outcomes told;
  for (std::uint32_t round = 0; round < 5; ++round) {
    for (auto const& a : actors) a.tell(note{0, 1, round}, {.wait_for_room = waits}, told.handler());
    REQUIRE(told.all_ended(10 * (round + 1)));
  }
  CHECK(told.ok == 50);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("a tell that finds the submission ring full is not overtaken by a later one", "[G2][G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto settings = v.settings;
  settings.submission_slots = 4;
  auto const rt = start(settings);
  auto const actor = rt->launch<orderly>("orderly", {.capacity = 1000});
  constexpr std::uint32_t count = 400;
  outcomes told;
  for (std::uint32_t i = 0; i < count; ++i) actor.tell(note{0, 1, i}, {}, told.handler());
  REQUIRE(told.all_ended(count));
  CHECK(told.ok == count);
  auto const t = ask_last(actor, get{});
  CHECK(t.handled == count);
  CHECK(t.disorder == 0);
}

TEST_CASE("a tell that does not wait is refused while others of its priority wait for room", "[G2][G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  in_reach<gate> const reached;
  gate& at = *reached;
  auto const rt = start(v.settings);
  gate_keeper const keeper{at};
  auto const actor = rt->launch<orderly>("orderly", {.capacity = 2, .active = false});
  outcomes told, impatient;
  for (std::uint32_t i = 0; i < 5; ++i) actor.tell(note{0, 1, i}, patiently, told.handler());
  REQUIRE(eventually([&] { return told.ok == 2; }));
  // From the moment at which the device has reported it; before that, on a device with its own memory, it is queued
  // behind the others.
  std::uint32_t next = 5;
  REQUIRE(eventually([&] {
    auto const ec = actor.try_tell(note{0, 1, next});
    if (!ec) ++next;
    return ec == errc::mailbox_full;
  }));
  std::vector<note> const two{{0, 1, 78}, {0, 1, 79}};
  CHECK(actor.try_tell(std::span<note const>(two)) == errc::mailbox_full);
  CHECK(tell(actor, note{0, 1, 80}) == errc::mailbox_full);
  CHECK(ask(actor, get{}).error() == errc::mailbox_full);
  actor.ask(get{}, rondo::ask_options{}, [&](error_code ec, tally) { impatient.handler()(ec); });
  REQUIRE(impatient.all_ended(1));
  CHECK(impatient.full == 1);
  REQUIRE_FALSE(activate(actor));
  REQUIRE(told.all_ended(5));
  CHECK(told.ok == 5);
  tally t{};
  CHECK(eventually([&] { return (t = ask_last(actor, get{})).handled == next; }));
  CHECK(t.disorder == 0);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("messages sent after a tell that is still on its way are handled after it", "[G2]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<orderly>("orderly", {.capacity = 500});
  listener<rondo::dead_letter> letters;
  auto const subscription = rt->on_dead_letter(letters.handler());
  outcomes told;
  std::uint32_t next = 0, awaited = 0;
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 3; ++i, ++awaited) actor.tell(note{0, 1, next++}, patiently, told.handler());
    REQUIRE_FALSE(actor.try_tell(note{0, 1, next++}));
    std::vector<note> const two{{0, 1, next}, {0, 1, next + 1}};
    REQUIRE_FALSE(actor.try_tell(std::span<note const>(two)));
    next += 2;
    actor.tell(note{0, 1, next++}, {}, told.handler());
    ++awaited;
    // An ask of the same sender and priority is handled after all of them.
    auto const t = ask(actor, get{}).value();
    CHECK(t.handled == next);
    CHECK(t.disorder == 0);
  }
  REQUIRE(told.all_ended(awaited));
  CHECK(told.ok == awaited);
  CHECK(letters.count() == 0);
}

TEST_CASE("a message queued behind one that finds no room is handled after it", "[G1][G2]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  listener<rondo::dead_letter> letters;
  auto const subscription = rt->on_dead_letter(letters.handler());
  auto const how_many_are_queued = [&] {
    auto const actor = rt->launch<orderly>("orderly", {.capacity = 1, .active = false});
    REQUIRE_FALSE(tell(actor, note{0, 1, 0}));
    outcomes told;
    actor.tell(note{0, 1, 1}, patiently, told.handler());
    std::uint32_t next = 2;
    if (!actor.try_tell(note{0, 1, next})) ++next;
    std::vector<note> const two{{0, 1, next}, {0, 1, next + 1}};
    // The whole batch never has room.
    if (auto const ec = actor.try_tell(std::span<note const>(two)); ec != errc::mailbox_full)
      CHECK((ec == errc::batch_too_large || (!ec && !shares_memory(v))));
    if (!actor.try_tell(note{0, 1, next})) ++next;
    REQUIRE_FALSE(activate(actor));
    REQUIRE(told.all_ended(1));
    tally t{};
    CHECK(eventually([&] { return (t = ask_last(actor, get{})).handled == next; }));
    CHECK(t.disorder == 0);
    REQUIRE_FALSE(terminate(actor, rondo::termination::drain));
    return next - 2;
  };
  // A device with its own memory queues them unless it has already reported that the mailbox is full.
  if (shares_memory(v))
    CHECK(how_many_are_queued() == 0);
  else
    CHECK(eventually([&] { return how_many_are_queued() != 0; }));
  for (auto const& l : letters.all()) CHECK(l.reason == errc::batch_too_large);
}

TEST_CASE("senders that wait for an actor are notified when it terminates", "[G2][G7]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<orderly>("orderly", {.capacity = 1, .active = false});
  outcomes told;
  for (std::uint32_t i = 0; i < 10; ++i) actor.tell(note{0, 1, i}, patiently, told.handler());
  REQUIRE(eventually([&] { return told.ok == 1; }));
  REQUIRE_FALSE(terminate(actor, rondo::termination::discard));
  REQUIRE(told.all_ended(10));
  CHECK(told.ok == 1);
  CHECK(told.other == 9);
  auto const successor = rt->launch<orderly>("successor");
  CHECK(ask(successor, get{}).value().handled == 0);
}

TEST_CASE("batches and asks wait for room, in order with single messages", "[G2][G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<orderly>("orderly", {.capacity = 4, .active = false});
  outcomes told;
  std::uint32_t sent = 0;
  std::vector<pending<tally>> asks(3);
  for (auto& asked : asks) {
    std::vector<note> const batch{{0, 1, sent}, {0, 1, sent + 1}, {0, 1, sent + 2}};
    actor.tell(std::span<note const>(batch), patiently, told.handler());
    actor.tell(note{0, 1, sent + 3}, patiently, told.handler());
    actor.ask(get{}, {.wait_for_room = true}, asked.handler());
    sent += 4;
  }
  REQUIRE(
      eventually([&] { return told.ok == 2; }));  // there was room for the first batch and one more message
  CHECK_FALSE(asks[0].is_ready());
  REQUIRE_FALSE(activate(actor));
  for (std::uint32_t i = 0; i < asks.size(); ++i) {
    CHECK_FALSE(asks[i].wait());
    CHECK(asks[i].reply->handled == 4 * (i + 1));
    CHECK(asks[i].reply->disorder == 0);
  }
  CHECK(told.all_ended(6));
  CHECK(told.ok == 6);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("what waits for room leaves at its deadline, and when it is cancelled", "[G5][G12]") {
  // Regression: neither had an effect before there was room.
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<orderly>("orderly", {.capacity = 1, .active = false});
  REQUIRE_FALSE(tell(actor, note{0, 1, 0}));
  auto const soon = std::chrono::milliseconds(20);
  CHECK(tell(actor, note{0, 1, 1}, {.deadline = soon, .wait_for_room = true}) == errc::timed_out);
  CHECK(actor.ask(get{}, {.timeout = soon, .wait_for_room = true}, rondo::block).error() == errc::timed_out);

  boost::asio::cancellation_signal stop_tell, stop_ask;
  std::promise<error_code> told;
  pending<tally> asked;
  actor.tell(note{0, 1, 2}, patiently,
             cancellable{stop_tell.slot(), [&](error_code ec) { told.set_value(ec); }});
  actor.ask(get{}, {.wait_for_room = true}, cancellable{stop_ask.slot(), asked.handler()});
  auto outcome = told.get_future();
  // On a device with its own memory, a message in transit cannot be called back: cancel it between two tries.
  CHECK(eventually([&] {
    stop_tell.emit(boost::asio::cancellation_type::all);
    return outcome.wait_for(1ms) == std::future_status::ready;
  }));
  CHECK(outcome.get() == errc::cancelled);
  stop_ask.emit(boost::asio::cancellation_type::all);
  CHECK(asked.wait() == errc::cancelled);

  REQUIRE_FALSE(activate(actor));
  auto const t = ask_last(actor, get{});
  CHECK(t.handled == 1);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("a batch for which a mailbox never has room is refused at once", "[G5]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<orderly>("orderly", {.capacity = 3});
  std::vector<note> const four(4, note{0, 1, 0});
  std::span<note const> const batch(four);
  CHECK(outcome_of([&](auto handler) { actor.tell(batch, patiently, std::move(handler)); }) ==
        errc::batch_too_large);
  CHECK(outcome_of([&](auto handler) { actor.tell(batch, {}, std::move(handler)); }) ==
        errc::batch_too_large);
  CHECK_FALSE(outcome_of([&](auto handler) { actor.tell(batch.first(0), {}, std::move(handler)); }));
  CHECK_FALSE(outcome_of([&](auto handler) { actor.tell(batch.first(3), patiently, std::move(handler)); }));
  CHECK(ask_last(actor, get{}).handled == 3);
}
