// The time limits of asks: none, zero, and very long ones.
#include <limits>

#include "runtime/lifecycle.hpp"
#include "runtime/messaging/trace_log.hpp"
#include "runtime/observe/telemetry.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/counter_fixture.hpp"

using namespace rondo_test;
using rondo::no_timeout;
using rondo::time_limit;
using std::chrono::nanoseconds;

namespace {

constexpr nanoseconds limit(time_limit l) { return l; }

template <class Rep>
using seconds_of = std::chrono::duration<Rep>;

static_assert(limit({}) == no_timeout);
static_assert(limit(no_timeout) == no_timeout);
static_assert(limit(3ms) == 3ms);
static_assert(limit(0s) == 0ns);
static_assert(limit(-1h) <= 0ns);
static_assert(limit(std::chrono::hours::min()) <= 0ns);
static_assert(limit(std::chrono::hours::max()) == no_timeout);
static_assert(limit(std::chrono::years(292)) < no_timeout);
static_assert(limit(std::chrono::years(293)) == no_timeout);
static_assert(limit(std::chrono::duration<std::uint64_t>(~0ull)) == no_timeout);
static_assert(limit(seconds_of<double>(0.5)) == 500ms);
static_assert(limit(seconds_of<double>(1e200)) == no_timeout);
static_assert(limit(seconds_of<double>(std::numeric_limits<double>::infinity())) == no_timeout);
static_assert(limit(seconds_of<double>(std::numeric_limits<double>::quiet_NaN())) == 0ns);
static_assert(limit(std::chrono::duration<int, std::pico>(1)) == 1ns);  // rounded up: it is not zero

}  // namespace

TEST_CASE("an ask with a timeout of zero or less ends with timed_out and is not sent", "[ask][G12]") {
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  auto const timeout = GENERATE(nanoseconds(0), nanoseconds(-1), nanoseconds::min());
  CHECK(c.ask(get{}, timeout, rondo::block).error() == errc::timed_out);
  std::promise<error_code> called, untyped;
  c.ask(get{}, timeout, [&](error_code ec, total) { called.set_value(ec); });
  CHECK(soon(called.get_future()) == errc::timed_out);
  auto const id = rt->at(c.id())->ask(
      rondo::type_id<get>, std::as_bytes(std::span("")), {.timeout = timeout},
      rondo::answer_handler([&](rondo::answer const& a) { untyped.set_value(a.reason); }));
  CHECK_FALSE(id.valid());
  CHECK(soon(untyped.get_future()) == errc::timed_out);
  auto const trace = rt->traces().new_trace();
  CHECK(c.ask(get{}, {.timeout = timeout, .trace = trace}, rondo::block).error() == errc::timed_out);
  REQUIRE(rt->traces().read(trace).size() == 1);
  CHECK(rt->traces().read(trace).front().on_host);
  CHECK(rt->traces().read(trace).front().outcome == errc::timed_out);
  CHECK(rondo::inspect(c, rondo::block).value().now.totals.accepted == 0);
  CHECK(rt->snapshot().asks_waiting == 0);
}

TEST_CASE("an ask without a timeout, or with one that is too long for the clock, waits for its answer",
          "[ask][G12]") {
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  for (auto const timeout :
       {limit(no_timeout), limit(std::chrono::years(292)), limit(std::chrono::hours::max())}) {
    CHECK(c.ask(get{}, timeout, rondo::block).has_value());
    std::promise<error_code> called;
    c.ask(later{}, timeout, [&](error_code ec, total) { called.set_value(ec); });
    CHECK(c.ask(get{}, std::chrono::hours::max(), rondo::block).has_value());  // handled after the other one
    CHECK(rt->snapshot().asks_waiting == 1);
    REQUIRE_FALSE(c.try_tell(settle{7}));
    CHECK_FALSE(soon(called.get_future()));
  }
  CHECK(c.ask(get{}, {}, rondo::block).has_value());  // the default
}

TEST_CASE("a far deadline does not keep a near one from passing", "[ask][G12]") {
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  std::promise<error_code> far;
  c.ask(later{}, std::chrono::years(292), [&](error_code ec, total) { far.set_value(ec); });
  CHECK(c.ask(later{}, 1ms, rondo::block).error() == errc::timed_out);
  REQUIRE(rt->stop().stopped);
  CHECK(soon(far.get_future()) == errc::stopped);
}

TEST_CASE(
    "a deadline that has passed is no missing one: a tell with less than zero is timed_out, and nothing is "
    "sent",
    "[time_limit]") {
  auto const rt = start({.device = "cpu", .teams = 2});
  auto const a = rt->launch<counter>("a");
  for (auto const deadline : {std::chrono::microseconds(-1), std::chrono::microseconds::min()}) {
    rondo::tell_options const late{.deadline = deadline};
    add const both[] = {{1}, {1}};
    CHECK(a.try_tell(add{1}, late) == errc::timed_out);
    CHECK(a.try_tell(std::span<add const>(both), late) == errc::timed_out);
    CHECK(a.tell(add{1}, late, rondo::block) == errc::timed_out);
    CHECK(a.tell(add{1}, {.deadline = deadline, .wait_for_room = true}, rondo::block) == errc::timed_out);
    CHECK(rt->find_any("a")->try_tell(rondo::type_id<add>, std::as_bytes(std::span(both, 1)), late) ==
          errc::timed_out);
  }
  CHECK(a.try_tell(add{1}, {.deadline = std::chrono::microseconds::max()}) == errc::deadline_too_long);
  CHECK(a.try_tell(add{5}, {.deadline = 0us}) == errc::ok);
  CHECK(a.ask(get{}, 60s, rondo::block).value().value == 5);
  CHECK(rt->snapshot().dead_letters == 0);
}
