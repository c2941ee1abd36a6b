// Guests: threads of the program that temporarily act as teams.
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/system_executor.hpp>

#include "runtime/checkpoint.hpp"
#include "runtime/observe/telemetry.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/counter_fixture.hpp"
#include "tests/scratch_directory.hpp"

using namespace rondo_test;

namespace {

std::unique_ptr<rondo::runtime> start_for_guests(std::uint32_t guests) {
  rondo::config settings;
  settings.device = "cpu";
  settings.teams = 1;
  settings.guest_teams = guests;
  return start(settings);
}

}  // namespace

TEST_CASE("a guest handles messages that its thread posted quietly, on that thread", "[runtime][guest]") {
  auto const rt = start_for_guests(1);
  auto const clicks = rt->launch<counter>("clicks");
  auto const guest = rt->make_guest();
  REQUIRE(guest);
  REQUIRE_FALSE(rt->make_guest());  // there can be only one
  auto const on_its_own_thread = [](auto handler) {
    return boost::asio::bind_executor(boost::asio::system_executor{}, handler);
  };
  // The handler of an answer blocks the only team, so only the guest can run an actor.
  std::promise<void> held, goes_on;
  rt->launch<counter>("busy").ask(get{}, patience, on_its_own_thread([&](error_code, total) {
                                    held.set_value();
                                    goes_on.get_future().wait_for(patience);
                                  }));
  soon(held.get_future());
  std::thread::id handled_on;
  {
    rondo::quiet_posts const quiet;
    clicks.ask(get{}, patience, on_its_own_thread([&](error_code ec, total) {
                 if (!ec) handled_on = std::this_thread::get_id();
               }));
    CHECK(rondo::posts_are_quiet);
  }
  CHECK_FALSE(rondo::posts_are_quiet);
  auto const dealt = guest->run(1ms);
  goes_on.set_value();
  CHECK(dealt == 1);
  CHECK(handled_on == std::this_thread::get_id());
  CHECK(eventually([&] { return rt->snapshot().live.handled == 2; }));
}

TEST_CASE("after a guest ends another one can start", "[runtime][guest]") {
  auto const rt = start_for_guests(1);
  REQUIRE(rt->make_guest());
  REQUIRE(rt->make_guest());
  REQUIRE_FALSE(start_for_guests(0)->make_guest());
}

TEST_CASE("the teams handle what guests leave at the end of their time", "[runtime][guest][G1]") {
  auto const rt = start_for_guests(1);
  auto const guest = rt->make_guest();
  std::vector<rondo::actor_ref<counter>> actors;
  for (int i = 0; i < 64; ++i) actors.push_back(rt->launch<counter>(""));
  {
    rondo::quiet_posts const quiet;
    for (auto const& a : actors)
      for (int i = 0; i < 10; ++i) REQUIRE_FALSE(a.try_tell(add{1}));
  }
  guest->run(0ms);  // one turn
  REQUIRE(eventually([&] { return rt->snapshot().live.handled == 640; }));
  REQUIRE(rt->snapshot().conserved());
}

TEST_CASE("concurrent guests, teams, senders and checkpoints lose nothing", "[runtime][guest][G1]") {
  scratch_directory folder("guest");
  auto const rt = start_for_guests(2);
  auto const clicks = rt->launch<counter>("clicks", {.capacity = 4096});
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> sent{0};
  std::vector<std::thread> threads;
  for (int g = 0; g < 2; ++g)
    threads.emplace_back([&] {
      auto const guest = rt->make_guest();
      while (!stop) {
        {
          rondo::quiet_posts const quiet;
          for (int i = 0; i < 8; ++i)
            if (!clicks.try_tell(add{1})) ++sent;
        }
        guest->run(100us);
      }
    });
  threads.emplace_back([&] {
    while (!stop)
      if (!clicks.try_tell(add{1})) ++sent;
  });
  for (int i = 0; i < 20; ++i) rondo::checkpoint(*rt, folder.directory / "checkpoint");
  stop = true;
  for (auto& t : threads) t.join();
  auto total = clicks.ask(get{}, patience, rondo::block);
  while (total.error() == errc::mailbox_full)
    total = clicks.ask(get{}, patience, rondo::block);  // includes the message that was sent last
  REQUIRE(total.value().value == sent);
  REQUIRE(eventually([&] { return rt->snapshot().conserved(); }));
}

TEST_CASE("a runtime stops while a guest runs, which then finds nothing to run", "[runtime][guest][G10]") {
  auto const rt = start_for_guests(1);
  auto const clicks = rt->launch<counter>("clicks");
  auto const guest = rt->make_guest();
  REQUIRE(rt->stop().stopped);
  REQUIRE(clicks.try_tell(add{1}) == errc::stopped);
  REQUIRE(guest->run(1ms) == 0);
}
