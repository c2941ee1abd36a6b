// The C++ client of a service.
#include "runtime/lifecycle.hpp"
#include "tests/catch.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;

TEST_CASE("a client tells and asks the actors of a service like local actors", "[service]") {
  served s;
  rondo::service::client c(s.options());
  auto const clicks = c.find<basics::counter>("clicks").value();
  for (int i = 0; i < 100; ++i) REQUIRE_FALSE(clicks.tell(basics::add{1}, {}, rondo::block));
  REQUIRE(clicks.ask(basics::get{}, 60s, rondo::block).value().value == 100);
  REQUIRE(c.find<basics::echo>("clicks").error() == errc::not_found);
  REQUIRE(c.find<basics::echo>("nobody").error() == errc::not_found);
  REQUIRE(c.service_name() == "rondo");
  REQUIRE(c.connections_made() == 1);
}

TEST_CASE("every one of many concurrent requests of a client is answered", "[service]") {
  served s;
  rondo::service::client c(s.options());
  auto const mirror = c.find<basics::echo>("mirror").value();
  constexpr std::uint64_t count = 5000;
  std::atomic<std::uint64_t> sum{0}, answered{0}, failed{0};
  for (std::uint64_t i = 1; i <= count; ++i)
    mirror.ask(basics::ping{i}, 30s, [&](rondo::error_code ec, basics::pong const& p) {
      if (ec)
        ++failed;
      else
        sum += p.number;
      if (++answered == count) answered.notify_one();
    });
  for (auto now = answered.load(); now != count; now = answered.load()) answered.wait(now);
  REQUIRE(failed == 0);
  REQUIRE(sum == count * (count + 1) / 2);
  REQUIRE(c.open() == 0);
}

TEST_CASE("messages of one client to one actor with one priority are handled in the order sent",
          "[service][G2]") {
  served s;
  rondo::service::client c(s.options());
  auto const store = c.find<basics::cell>("store").value();
  constexpr std::uint64_t count = 1000;
  std::atomic<std::uint64_t> done{0};
  std::vector<std::uint64_t> versions(count);
  for (std::uint64_t i = 0; i < count; ++i)
    store.ask(basics::put{}, 30s, [&, i](rondo::error_code, basics::stored const& r) {
      versions[i] = r.version;
      if (++done == count) done.notify_one();
    });
  for (auto now = done.load(); now != count; now = done.load()) done.wait(now);
  for (std::uint64_t i = 0; i < count; ++i) REQUIRE(versions[i] == i + 1);
}

TEST_CASE(
    "what waits when the service ends and another takes its place is sent to that one, or known to be "
    "unknown",
    "[service]") {
  served s;
  rondo::service::client c(s.options());
  auto const clicks = c.find<basics::counter>("clicks").value();
  REQUIRE_FALSE(clicks.tell(basics::add{1}, {}, rondo::block));
  s.it.reset();
  s.start();
  // The first request may be written to the closed socket before the client notices.
  auto const first = clicks.tell(basics::add{10}, {}, rondo::block);
  REQUIRE((!first || first == errc::outcome_unknown));
  REQUIRE_FALSE(clicks.tell(basics::add{100}, {}, rondo::block));
  auto const total = clicks.ask(basics::get{}, 60s, rondo::block).value().value;
  REQUIRE((total == 111 || (first && total == 101)));
  REQUIRE(c.connections_made() == 2);
}

TEST_CASE("requests without a service end with peer_gone, and report what was tried", "[service]") {
  scratch_directory folder("service");
  rondo::service::client c({.at = {true, (folder.directory / "none").string(), 0}, .connect_timeout = 50ms});
  REQUIRE(c.find<basics::counter>("clicks").error() == errc::peer_gone);
  REQUIRE(c.last_words().find("No such file") != std::string::npos);
}

TEST_CASE("an ask ends at its deadline, regardless of the service", "[service][G12]") {
  served s;
  rondo::service::client c(s.options());
  auto const clicks = c.find<basics::counter>("clicks").value();
  REQUIRE_FALSE(rondo::deactivate(s.rt->at(clicks.id()).value(), rondo::block));
  REQUIRE(clicks.ask(basics::get{}, 20ms, rondo::block).error() == errc::timed_out);
}
