// Repeated actions after a pause, and periods that make no sense.
#include "runtime/core/timer.hpp"

#include <boost/asio/io_context.hpp>
#include <thread>

#include "tests/runtime/counter_fixture.hpp"

using namespace rondo_test;

TEST_CASE("what was due while a process stood still is skipped, and comes once", "[timer]") {
  using time = std::chrono::steady_clock::time_point;
  time const due{10s};
  CHECK(rondo::next_due(due, 1ms, due) == time{10s + 1ms});
  CHECK(rondo::next_due(due, 1ms, time{10s + 1ms}) == time{10s + 2ms});
  CHECK(rondo::next_due(due, 1ms, time{15s + 300us}) == time{15s + 1ms});
  CHECK(rondo::next_due(due, 1h, time{9s}) == time{10s + 1h});

  boost::asio::io_context context;
  int calls = 0;
  rondo::timer const t(context.get_executor(), 1ms, [&] { return ++calls != 1000; });
  for (auto const until = std::chrono::steady_clock::now() + 200ms; std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(1ms);  // the context stands still
  context.poll();
  CHECK(calls >= 1);
  CHECK(calls < 100);  // not 200; more than one only if the machine is slow now
}

TEST_CASE("a repetition has a period that leaves time for others: zero, less, or too short is refused",
          "[timer]") {
  auto const rt = start({.device = "cpu", .teams = 2});
  auto const a = rt->launch<counter>("a");
  for (auto const period : {0ns, -1ns, 1ns, std::chrono::nanoseconds::min(), 99'999ns})
    CHECK_THROWS_AS(rt->every(period, a, add{1}), std::invalid_argument);
  auto const shortest = rt->every(rondo::shortest_period, a, add{1});
  auto const never = rt->every(std::chrono::nanoseconds::max(), a, add{1'000'000});
  auto const sum = [&] {
    return a.ask(get{}, {.timeout = 60s, .wait_for_room = true}, rondo::block).value().value;
  };
  CHECK(eventually([&] { return sum() != 0; }));
  CHECK(sum() < 1'000'000);
}
