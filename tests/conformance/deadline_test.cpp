// G12: time limits and cancellation; an ask is answered exactly once.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "runtime/observe/telemetry.hpp"
#include "tests/conformance/harness.hpp"

using namespace conformance;

TEST_CASE("an ask ends at its deadline, and its message is not handled later", "[G12]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  in_reach<gate> const reached;
  gate& at = *reached;
  auto const rt = start(v.settings);
  gate_keeper const keeper{at};
  auto const actor = rt->launch<adder>("adder");
  std::atomic<std::uint32_t> handled{0};
  hold_at(actor, at);
  CHECK(actor.ask(get{}, 5ms, rondo::block).error() == errc::timed_out);
  pending<total> asked;
  actor.ask(get{}, 5ms, asked.handler());
  CHECK(asked.wait() == errc::timed_out);
  keeper.open();
  REQUIRE(ask(actor, get{}));
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  auto const& n = report_of(t, actor.id()).now.totals;
  CHECK(n.accepted == 4);
  CHECK(n.handled == 2);
  CHECK(n.rejected == 2);
  CHECK(asked.calls->load() == 1);
  CHECK(t.asks_waiting == 0);
}

TEST_CASE("a tell whose deadline passes before its turn is a dead letter", "[G12]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  in_reach<gate> const reached;
  gate& at = *reached;
  auto const rt = start(v.settings);
  gate_keeper const keeper{at};
  listener<rondo::dead_letter> letters;
  auto const subscription = rt->on_dead_letter(letters.handler());
  auto const actor = rt->launch<adder>("adder");
  hold_at(actor, at);
  REQUIRE_FALSE(tell(actor, add{100}, {.deadline = 1ms}));
  REQUIRE_FALSE(tell(actor, add{1}, {.deadline = 1h}));
  REQUIRE_FALSE(tell(actor, add{2}, {.deadline = 20h}));
  CHECK(tell(actor, add{200}, {.deadline = 25h}) == errc::deadline_too_long);
  CHECK(actor.try_tell(add{200}, {.deadline = 25h}) == errc::deadline_too_long);
  REQUIRE_FALSE(tell(actor, add{4}));
  CHECK(actor.ask(get{}, 5ms, rondo::block).error() == errc::timed_out);  // by now the first one is late
  keeper.open();
  CHECK(ask(actor, get{}).value().value == 7);
  REQUIRE(letters.wait_for(1));
  CHECK(letters.count() == 1);
  CHECK(letters.all().front().reason == errc::timed_out);
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("asks of a deactivated actor end at their deadlines, in any order", "[G12]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("asleep", {.capacity = 64, .active = false});
  std::vector<pending<total>> asks(40);
  for (std::size_t i = 0; i < asks.size(); ++i)
    actor.ask(get{}, std::chrono::milliseconds(1 + (i * 17) % 40), asks[i].handler());
  for (auto& a : asks) CHECK(a.wait() == errc::timed_out);
  REQUIRE_FALSE(activate(actor));
  REQUIRE(ask(actor, get{}));
  auto const t = at_rest(*rt);
  CHECK(report_of(t, actor.id()).now.totals.rejected == 40);
  for (auto const& a : asks) CHECK(a.calls->load() == 1);
}

TEST_CASE("an answer after the deadline is dropped and counted", "[G12]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("adder");
  pending<total> asked;
  actor.ask(later{}, 50ms, asked.handler());
  REQUIRE(ask(actor, get{}));  // by now the first one was handled, or is late
  CHECK(asked.wait() == errc::timed_out);
  auto const before = rt->snapshot().late_answers;
  REQUIRE_FALSE(tell(actor, settle{1}));
  REQUIRE(ask(actor, get{}));
  CHECK(asked.calls->load() == 1);
  // If the ask was late before its turn, there is no token to settle.
  auto const deferred = report_of(at_rest(*rt), actor.id()).now.totals.rejected == 0;
  CHECK(eventually([&] { return rt->snapshot().late_answers == before + (deferred ? 1 : 0); }));
}

TEST_CASE("a cancelled ask is still answered exactly once", "[G12]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("adder");
  boost::asio::cancellation_signal signal;
  pending<total> asked;
  actor.ask(later{}, rondo::ask_options{},
            boost::asio::bind_cancellation_slot(signal.slot(), asked.handler()));
  REQUIRE(ask(actor, get{}));
  CHECK_FALSE(asked.is_ready());
  signal.emit(boost::asio::cancellation_type::terminal);
  CHECK(asked.wait() == errc::cancelled);
  signal.emit(boost::asio::cancellation_type::terminal);  // there is nothing left to cancel
  REQUIRE_FALSE(tell(actor, settle{1}));
  REQUIRE(ask(actor, get{}));
  CHECK(asked.calls->load() == 1);
}

TEST_CASE("a cancellation after the answer does not cancel a later ask", "[G12]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto settings = v.settings;
  settings.asks = 1;  // one slot: the later ask reuses the slot of the earlier one
  auto const rt = start(settings);
  auto const actor = rt->launch<adder>("adder");
  boost::asio::cancellation_signal signal;
  pending<total> first, second;
  actor.ask(get{}, rondo::ask_options{}, boost::asio::bind_cancellation_slot(signal.slot(), first.handler()));
  CHECK_FALSE(first.wait());
  actor.ask(later{}, rondo::ask_options{}, second.handler());
  signal.emit(boost::asio::cancellation_type::terminal);
  CHECK(actor.ask(get{}, rondo::ask_options{}, rondo::block).error() == errc::ask_limit);
  CHECK_FALSE(second.is_ready());
  while (actor.try_tell(settle{9})) std::this_thread::yield();
  CHECK_FALSE(second.wait());
  CHECK(second.reply->value == 9);
}

TEST_CASE("replies, deadlines and cancellations race, and each ask ends once", "[G12]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<adder>("adder", {.capacity = 512});
  struct one {
    pending<total> asked;
    boost::asio::cancellation_signal signal;
  };
  std::vector<std::unique_ptr<one>> asks;
  for (int i = 0; i < 200; ++i) {
    auto& a = *asks.emplace_back(std::make_unique<one>());
    actor.ask(get{}, std::chrono::microseconds(20 + i * 13 % 400),
              boost::asio::bind_cancellation_slot(a.signal.slot(), a.asked.handler()));
    if (i % 3 == 0) a.signal.emit(boost::asio::cancellation_type::terminal);
  }
  for (auto const& a : asks) {
    auto const ec = a->asked.wait();
    CHECK((!ec || ec == errc::timed_out || ec == errc::cancelled));
  }
  REQUIRE(ask(actor, get{}));
  auto const t = at_rest(*rt);
  CHECK(t.conserved());
  CHECK(t.asks_waiting == 0);
  for (auto const& a : asks) CHECK(a->asked.calls->load() == 1);
}
