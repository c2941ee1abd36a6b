// The interface of a runtime: refusals, lookups, timers and reports.
#include <bit>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_future.hpp>
#include <optional>
#include <set>

#include "runtime/lifecycle.hpp"
#include "runtime/observe/hub.hpp"
#include "runtime/observe/telemetry.hpp"
#include "tests/runtime/counter_fixture.hpp"

using namespace rondo_test;
using Catch::Matchers::Contains;

namespace runtime_test {

std::string text_of(std::function<void()> const& f) {
  try {
    f();
  } catch (std::exception const& e) {
    return e.what();
  }
  return "nothing was thrown";
}

rondo::config with_device(std::string name) {
  rondo::config c;
  c.device = std::move(name);
  return c;
}

struct too_large {
  std::byte bytes[97];
};
struct owning {
  std::string text;
};

struct nothing_to_do {
  using messages = rondo::messages<add>;
  RONDO_HD void on(rondo::context&, add const&) {}
};
/// No source file registers it for the device `emulated`.
RONDO_MODULE(unregistered, nothing_to_do)

}  // namespace runtime_test
using namespace runtime_test;

static_assert(rondo::message_type<add>);
static_assert(!rondo::message_type<too_large>, "97 bytes do not fit");
static_assert(!rondo::message_type<owning>, "not trivially copyable");
static_assert(!rondo::takes<counter, total> && !rondo::takes<idler, add>);

TEST_CASE("an unavailable device is refused with advice", "[runtime]") {
  CHECK_THAT(text_of([] { start(with_device("abacus")); }),
             Contains("abacus") && Contains("unknown") && Contains("cpu"));
  CHECK_THAT(text_of([] { start(with_device("none")); }), Contains("'none'") && Contains("choose cpu"));
  CHECK_THAT(text_of([] { start(with_device("metal")); }),
             Contains("device 'metal' needs macOS with an Apple GPU; this is Linux: use opencl or cpu"));
#if !defined(RONDO_HAS_CUDA)
  for (auto const* name : {"cuda", "cuda:0", "cuda:7"})
    CHECK_THAT(text_of([&] { start(with_device(name)); }), Contains(name) && Contains("cpu or auto"));
#endif
}

TEST_CASE("a module that was not compiled for the emulated device is refused with advice", "[runtime]") {
  CHECK_THAT(text_of([] { rondo::runtime(rondo::use<unregistered>, with_device("emulated")); }),
             Contains("'emulated'") && Contains("RONDO_EMULATED_MODULE"));
}

TEST_CASE("a setting out of range is refused before anything starts", "[runtime]") {
  rondo::config c;
  c.actors = 0;
  CHECK_THAT(text_of([&] { start(c); }), Contains("actors"));
  c = {};
  c.stop_timeout_ms = 0;
  CHECK_THROWS_AS(start(c), rondo::config_error);
}

TEST_CASE("a runtime without a config takes it from the environment, and one with a config does not",
          "[runtime]") {
  REQUIRE(::setenv("RONDO_TEAMS", "3", 1) == 0);
  REQUIRE(::setenv("RONDO_DEVICE", "cpu", 1) == 0);
  auto const from_environment = rondo::runtime{rondo::use<unregistered>}.settings();
  auto const from_code = rondo::runtime{rondo::use<unregistered>, with_device("cpu")}.settings();
  ::setenv("RONDO_TEAMS", "many", 1);
  auto const refused = text_of([] { rondo::runtime{rondo::use<unregistered>}; });
  ::setenv("RONDO_TEAMS", "2", 1);
  ::setenv("RONDO_DEVICE", "metal", 1);
  auto const unavailable = text_of([] { rondo::runtime{rondo::use<unregistered>}; });
  ::unsetenv("RONDO_TEAMS");
  ::unsetenv("RONDO_DEVICE");
  CHECK(from_environment.teams == 3);
  CHECK(from_environment.device == "cpu");
  CHECK(from_code.teams == 0);
  CHECK_THAT(refused, Contains("RONDO_TEAMS") && Contains("many"));
  CHECK_THAT(unavailable, Contains("device 'metal' (RONDO_DEVICE)"));
}

TEST_CASE("auto chooses a device and gives the reason", "[runtime]") {
  auto const rt = start(with_device("auto"));
  CHECK_FALSE(rt->reason().empty());
  CHECK_FALSE(rt->info().name.empty());
  CHECK_FALSE(rt->info().description.empty());
  CHECK(rt->launch<counter>("c").ask(get{}, patience, rondo::block).value().value == 0);
}

TEST_CASE("launching validates its options", "[runtime]") {
  auto const rt = start();
  CHECK_THAT(text_of([&] { rt->launch<counter>("red\033[31m"); }), Contains("byte 3") && Contains("0x1b"));
  CHECK_THAT(text_of([&] { rt->launch<counter>(std::string(256, 'n')); }),
             Contains("256") && Contains("255"));
  CHECK_THAT(text_of([&] { rt->launch<counter>("none", {.capacity = 0}); }),
             Contains("none") && Contains("capacity is 0"));
  CHECK_THAT(text_of([&] { rt->launch<counter>("vast", {.capacity = 1u << 30}); }),
             Contains("vast") && Contains("1073741824"));
  CHECK_THAT(text_of([&] { rt->launch<counter>("never", {.supervise = {.poison_after = 0}}); }),
             Contains("never") && Contains("poison_after"));
  for (std::uint32_t const batch : {0u, 65u})
    CHECK_THAT(text_of([&] { rt->launch<counter>("crowd", {.batch = batch}); }),
               Contains("crowd") && Contains("1 to 64 messages"));
  rt->launch<counter>("taken");
  CHECK_THAT(text_of([&] { rt->launch<counter>("taken"); }), Contains("another actor has this name"));
  CHECK(rt->try_launch<idler>("taken").error() == errc::name_taken);
  CHECK(rt->try_launch_untyped("x", "no such behaviour", {}).error() == errc::unknown_behaviour);
  CHECK(rt->try_launch<nothing_to_do>("x").error() == errc::unknown_behaviour);
  auto const foreign = text_of([&] { rt->launch<nothing_to_do>("x"); });
  CHECK_THAT(foreign, Contains(std::string(rondo::type_name<nothing_to_do>)));
  for (auto const& known : rt->behaviours()) CHECK_THAT(foreign, Contains(std::string(known.name)));
  CHECK(rt->list().size() == 1);
  CHECK(rt->launch<counter>(std::string(255, 'n')).id().valid());
}

TEST_CASE("actors, pinned teams and memory run out with an error", "[runtime]") {
  rondo::config c = with_device("cpu");
  c.actors = 20;
  c.teams = 1;
  auto const rt = start(c);
  std::vector<rondo::actor_ref<counter>> pinned;
  for (;;) {
    auto const r = rt->try_launch<counter>("", {.pinned = true});
    if (!r) {
      CHECK(r.error() == errc::actor_limit);
      break;
    }
    pinned.push_back(*r);
  }
  CHECK(pinned.size() == 16);
  for (auto const& p : pinned) CHECK(p.ask(get{}, patience, rondo::block));
  CHECK(rt->try_launch<counter>("deep", {.capacity = 1u << 25}).error() == errc::out_of_memory);
  for (int i = 0; i < 4; ++i) rt->launch<counter>("");
  CHECK(rt->try_launch<counter>("").error() == errc::actor_limit);
  CHECK_FALSE(rondo::terminate(pinned[0], rondo::termination::drain, rondo::block));
  // Its team notices after a while that it is free.
  CHECK(eventually([&] { return rt->try_launch<counter>("again", {.pinned = true}).has_value(); }));
}

TEST_CASE("find and list return the living actors by name and behaviour", "[runtime]") {
  auto const rt = start();
  auto const a = rt->launch<counter>("a");
  rt->launch<idler>("b");
  rt->launch<counter>("");
  CHECK(rt->find<counter>("a").value() == a);
  CHECK(rt->find<counter>("b").error() == errc::not_found);  // it is an idler
  CHECK(rt->find<counter>("").error() == errc::not_found);
  std::multiset<std::string> names;
  for (auto const& e : rt->list()) names.insert(e.name);
  CHECK(names == std::multiset<std::string>{"", "a", "b"});
  CHECK_FALSE(rondo::terminate(a, rondo::termination::drain, rondo::block));
  CHECK(rt->find<counter>("a").error() == errc::not_found);
  REQUIRE(rt->behaviours().size() == 2);
  CHECK(rt->behaviours()[0].name == rondo::type_name<counter>);
  CHECK(rt->behaviours()[0].messages.size() == 6);
}

TEST_CASE("a lifecycle operation reaches the actor of its ref, not another runtime's with the same id",
          "[runtime][G7]") {
  auto const one = start(), other = start();
  auto const a = one->launch<counter>("c"), b = other->launch<counter>("c");
  REQUIRE(a.id() == b.id());
  CHECK_FALSE(a == b);
  CHECK_FALSE(rondo::deactivate(b, rondo::block));
  CHECK(rondo::inspect(a, rondo::block).value().now.state == rondo::lifecycle::active);
  CHECK(rondo::inspect(b, rondo::block).value().now.state == rondo::lifecycle::deactivated);
  CHECK_FALSE(rondo::activate(other->at(b.id()).value(), rondo::block));
  CHECK_FALSE(rondo::terminate(a, rondo::termination::drain, rondo::block));
  CHECK(one->at(a.id()).error() == errc::actor_gone);
  CHECK(b.ask(get{}, patience, rondo::block).value().value == 0);
  CHECK_THROWS_AS(one->every(1h, b, add{1}), std::invalid_argument);
}

TEST_CASE("a timer repeats its message until it is destroyed", "[runtime]") {
  auto const rt = start();
  // Room for all messages that arrive while a busy machine does not run any team.
  auto const c = rt->launch<counter>("c", {.capacity = 1u << 16});
  auto const value = [&] { return c.ask(get{}, patience, rondo::block).value().value; };
  {
    auto const every_ms = rt->every(1ms, c, add{1});
    CHECK(eventually([&] { return value() >= 5; }));
    auto moved = rt->every(1h, c, add{1000});
    moved = rt->every(1ms, c, add{1});  // ends the previous timer
    auto const before = value();
    CHECK(eventually([&] { return value() >= before + 5; }));
  }
  // The timers end on the runtime's thread, in the order of its posts.
  std::promise<void> ended;
  boost::asio::post(rt->executor(), [&] { ended.set_value(); });
  soon(ended.get_future());
  auto const after = value();
  std::promise<void> later_on;
  boost::asio::steady_timer pause(rt->executor(), 5ms);
  pause.async_wait([&](error_code) { later_on.set_value(); });
  soon(later_on.get_future());
  CHECK(value() == after);
  CHECK(after < 1000);
}

TEST_CASE("a timer sends nothing after the runtime's thread has cancelled it, even if it was due",
          "[runtime]") {
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  rondo::timer repeated;
  boost::asio::steady_timer first(rt->executor()), pause(rt->executor());
  std::promise<void> later_on;
  boost::asio::post(rt->executor(), [&] {
    first.expires_after(1ms);
    first.async_wait([&](error_code) {
      repeated = {};
      pause.expires_after(5ms);  // its handler runs after that of `repeated`, which is due already
      pause.async_wait([&](error_code) { later_on.set_value(); });
    });
    repeated = rt->every(2ms, c, add{1});
    std::this_thread::sleep_for(20ms);  // both are due when the thread looks at its timers again
  });
  soon(later_on.get_future());
  CHECK(c.ask(get{}, patience, rondo::block).value().value == 0);
}

TEST_CASE("a timer's message that cannot be delivered is a dead letter", "[runtime]") {
  auto const rt = start();
  std::promise<rondo::dead_letter> first;
  std::once_flag once;
  auto const subscription = rt->on_dead_letter(
      [&](rondo::dead_letter const& l) { std::call_once(once, [&] { first.set_value(l); }); });
  auto const c = rt->launch<counter>("c", {.capacity = 1, .active = false});
  auto const t = rt->every(1ms, c, add{7});
  auto const letter = soon(first.get_future());
  CHECK(letter.reason == errc::mailbox_full);
  CHECK(letter.actor == c.id());
  CHECK(letter.actor_name == "c");
  CHECK(letter.type_name == rondo::type_name<add>);
  add body;
  __builtin_memcpy(&body, letter.body.payload, sizeof body);
  CHECK(body.amount == 7);
}

TEST_CASE("a timer goes on while its actor is full, and ends with it", "[runtime]") {
  auto const settings = GENERATE(as<std::string>{}, "cpu", "emulated");
  INFO(settings);
  auto const rt = start(with_device(settings));
  std::atomic<int> full{0}, gone{0};
  auto const subscription = rt->on_dead_letter(
      [&](rondo::dead_letter const& l) { ++(l.reason == errc::mailbox_full ? full : gone); });
  auto const c = rt->launch<counter>("c", {.capacity = 1, .active = false});
  auto const t = rt->every(1ms, c, add{7});
  CHECK(eventually([&] { return full >= 3; }));
  CHECK_FALSE(rondo::terminate(c, rondo::termination::discard, rondo::block));
  CHECK(eventually([&] {  // a timer that went on would be due twenty times in each pause
    auto const before = gone.load();
    soon(boost::asio::steady_timer(rt->executor(), 20ms).async_wait(boost::asio::use_future));
    return gone == before;
  }));
  CHECK(gone >= 1);  // the message that waited
}

TEST_CASE("subscriptions end on destruction, even inside their own handler", "[runtime]") {
  auto const rt = start();
  auto const c = rt->launch<counter>("c", {.active = false});
  std::atomic<int> lasting{0}, single{0};
  rondo::subscription self_ending;
  auto const keeps = rt->on_dead_letter([&](auto const&) { ++lasting; });
  self_ending = rt->on_dead_letter([&](auto const&) {
    ++single;
    rondo::subscription const gone = std::move(self_ending);
  });
  for (int i = 0; i < 3; ++i) REQUIRE_FALSE(c.try_tell(add{1}));
  CHECK_FALSE(rondo::terminate(c, rondo::termination::discard, rondo::block));
  CHECK(eventually([&] { return lasting == 3; }));
  CHECK(single == 1);
  CHECK(rt->snapshot().dead_letters == 3);
}

TEST_CASE("a subscription that another handler of the same event has ended is not called", "[runtime]") {
  boost::asio::io_context context;
  rondo::hub<int> events(context.get_executor(), [](char const*) {});
  std::optional<rondo::subscription> first, last;
  int calls = 0;
  first = events.subscribe([&](int) { last.reset(), ++calls; });
  auto const middle = events.subscribe([&](int) { first.reset(), ++calls; });
  last = events.subscribe([&](int) { calls += 100; });
  for (int n = 0; n < 2; ++n) events.publish(n);
  context.run();
  CHECK(calls == 3);
  CHECK(events.has_subscribers());
}

TEST_CASE("a completion handler may use the runtime while that is destroyed", "[runtime]") {
  auto rt = start();
  auto const c = rt->launch<counter>("c");
  std::atomic<std::uint32_t> inspections{0};
  std::promise<error_code> last;
  std::function<void(error_code, rondo::inspection const&)> inspect_again =
      [&, rt = rt.get()](error_code ec, rondo::inspection const&) {
        if (ec) return last.set_value(ec);
        ++inspections;
        rondo::inspect(c, inspect_again);
      };
  rondo::inspect(c, inspect_again);
  REQUIRE(eventually([&] { return inspections > 10; }));
  rt.reset();
  CHECK(soon(last.get_future()) == errc::stopped);
}

TEST_CASE("a ref cast to another behaviour is refused by the actor", "[runtime]") {
  auto const rt = start();
  auto const i = rt->launch<idler>("idler");
  auto const wrong = std::bit_cast<rondo::actor_ref<counter>>(i);
  CHECK(wrong.ask(get{}, patience, rondo::block).error() == errc::unknown_message);
  CHECK(i.ask(later{}, patience, rondo::block).value().value == 1);
}

TEST_CASE("the table of a snapshot contains actors and their counts", "[runtime]") {
  auto const rt = start();
  auto const c = rt->launch<counter>("a-counter-with-a-long-name");
  for (int i = 0; i < 20; ++i) REQUIRE(c.ask(get{}, patience, rondo::block));
  CHECK(eventually([&] { return rt->snapshot().live.handled == 20; }));
  auto const t = rt->snapshot();
  CHECK(t.conserved());
  CHECK_THAT(to_table(t), Contains("a-counter-with-a-long-name") && Contains(" 20 "));
  REQUIRE(t.actors.size() == 1);
  CHECK(t.actors[0].behaviour == rondo::type_name<counter>);
  CHECK(t.actors[0].mean_latency_ns() > 0);
  CHECK(t.actors[0].latency_ns(0.5) <= t.actors[0].latency_ns(0.99));
  CHECK(t.actors[0].min_latency_ns() <= t.actors[0].mean_latency_ns());
  CHECK(t.actors[0].mean_latency_ns() <= t.actors[0].max_latency_ns());
}

TEST_CASE("a snapshot says for how long an actor has lived, and its mean rate since then", "[runtime]") {
  auto const rt = start();
  auto const before = rondo::now_ns();
  auto const c = rt->launch<counter>("c");
  CHECK(rt->snapshot().actors.at(0).mean_rate() == 0);
  for (int i = 0; i < 20; ++i) REQUIRE(c.ask(get{}, patience, rondo::block));
  REQUIRE(eventually([&] { return rt->snapshot().live.handled == 20; }));
  auto const seen = rt->snapshot().actors.at(0);
  auto const most = rondo::now_ns() - before;
  CHECK(seen.uptime_ns > 0);
  CHECK(seen.uptime_ns <= most);
  CHECK(seen.mean_rate() >= 20e9 / static_cast<double>(most));
  // What it handled before a checkpoint does not count.
  auto restored = seen;
  restored.handled_before = 20;
  CHECK(restored.mean_rate() == 0);
}

TEST_CASE("the latencies of an actor lie between the ends of the buckets", "[runtime]") {
  rondo::actor_report r;
  CHECK(r.min_latency_ns() == 0);
  CHECK(r.max_latency_ns() == 0);
  r.now.latency_counts[rondo::latency_histogram::bucket_of(1000)] = 1;
  r.now.latency_counts[rondo::latency_histogram::bucket_of(70'000)] = 1;
  CHECK(r.min_latency_ns() <= 1000);
  CHECK(r.min_latency_ns() > 500);
  CHECK(r.max_latency_ns() >= 70'000);
  CHECK(r.max_latency_ns() < 140'000);
}

TEST_CASE("a hundred thousand actors are launched and each handles a message", "[runtime]") {
  rondo::config c = with_device("cpu");
  c.teams = 2;
  c.actors = 100'000;
  auto const rt = start(c);
  std::vector<rondo::actor_ref<counter>> all;
  all.reserve(c.actors);
  for (std::uint32_t i = 0; i < c.actors; ++i) all.push_back(rt->launch<counter>(""));
  CHECK(rt->try_launch<counter>("").error() == errc::actor_limit);
  for (auto const& a : all) {
    error_code ec;
    while ((ec = a.try_tell(add{1})) == errc::arena_full) std::this_thread::yield();
    if (ec) FAIL(ec.message());
  }
  REQUIRE(eventually([&] {
    auto const t = rt->snapshot();
    return t.live.handled == c.actors && t.waiting == 0;
  }));
  for (std::uint32_t i = 0; i < c.actors; i += 9973)
    CHECK(all[i].ask(get{}, patience, rondo::block).value().value == 1);
  CHECK(eventually([&] { return rt->snapshot().conserved(); }));
}
