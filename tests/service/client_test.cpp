// The C++ client of a service.
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/system_executor.hpp>
#include <future>

#include "runtime/lifecycle.hpp"
#include "runtime/service/wire/wire.hpp"
#include "tests/catch.hpp"
#include "tests/forked.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;
using Catch::Matchers::Contains;

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

TEST_CASE("an answer longer than the client accepts is told with both sizes", "[service]") {
  served s;
  auto options = s.options();
  options.max_frame_bytes = 256;
  rondo::service::client c(options);
  auto& b = rondo::service::frame_builder();
  auto const r = c.request(rondo::service::request_frame(b, 1, rondo::wire::Createdescribe(b)), 60s);
  CHECK(r.ec == errc::outcome_unknown);
  CHECK_THAT(r.why, Contains("this client accepts 256 (max_frame_bytes)") && !Contains("TLS"));
}

TEST_CASE("an ask ends at its deadline, regardless of the service", "[service][G12]") {
  served s;
  rondo::service::client c(s.options());
  auto const clicks = c.find<basics::counter>("clicks").value();
  REQUIRE_FALSE(rondo::deactivate(s.rt->at(clicks.id()).value(), rondo::block));
  REQUIRE(clicks.ask(basics::get{}, 20ms, rondo::block).error() == errc::timed_out);
}

TEST_CASE("an ask through a client with a timeout of zero or less ends with timed_out and is not sent",
          "[service][G12]") {
  served s;
  rondo::service::client c(s.options());
  auto const clicks = c.find<basics::counter>("clicks").value();
  auto const timeout = GENERATE(0ns, -1ns, std::chrono::nanoseconds::min());
  REQUIRE(clicks.ask(basics::add_and_get{1}, timeout, rondo::block).error() == errc::timed_out);
  REQUIRE(clicks.ask(basics::get{}, 60s, rondo::block).value().value == 0);
  REQUIRE(c.request({}, 0ms).ec == errc::timed_out);
}

TEST_CASE("an ask through a client without a timeout, or with a very long one, waits for its answer",
          "[service][G12]") {
  served s;
  rondo::service::client c(s.options());
  auto const clicks = c.find<basics::counter>("clicks").value();
  auto const ask = [&](auto timeout) { return clicks.ask(basics::add_and_get{1}, timeout, rondo::block); };
  REQUIRE(ask(rondo::no_timeout).value().value == 1);
  REQUIRE(ask(std::chrono::hours::max()).value().value == 2);
  REQUIRE(ask(std::chrono::years(292)).value().value == 3);
  REQUIRE(ask(2h).value().value == 4);  // longer than the field of the protocol holds
}

TEST_CASE("an ask through a client keeps its handler's context running", "[service]") {
  boost::asio::io_context io;
  served s;
  rondo::service::client c(s.options());
  auto const clicks = c.find<basics::counter>("clicks").value();
  REQUIRE_FALSE(rondo::deactivate(s.rt->at(clicks.id()).value(), rondo::block));
  int called = 0;
  clicks.ask(
      basics::get{}, rondo::no_timeout,
      boost::asio::bind_executor(io, [&](rondo::error_code ec, basics::total) { called += ec ? 100 : 1; }));
  c.send({clicks.id(), {}}, rondo::type_id<basics::get>, std::as_bytes(std::span("")), {.wants_reply = true},
         rondo::answer_handler(boost::asio::bind_executor(
             io, [&](rondo::answer const& a) { called += a.reason != errc::ok ? 100 : 1; })));
  io.poll();
  REQUIRE_FALSE(io.stopped());
  REQUIRE_FALSE(rondo::activate(s.rt->at(clicks.id()).value(), rondo::block));
  io.restart();
  io.run();
  REQUIRE(called == 2);
}

TEST_CASE("a blocking request fails on the client's own thread, and in a forked child", "[service]") {
  ::alarm(60);  // if it blocked
  served s;
  rondo::service::client c(s.options());
  auto const clicks = c.find<basics::counter>("clicks").value();
  auto const refused = [&] {
    return clicks.ask(basics::get{}, rondo::no_timeout, rondo::block).error() == errc::would_deadlock &&
           clicks.tell(basics::add{1}, {}, rondo::block) == errc::would_deadlock &&
           c.find<basics::counter>("clicks").error() == errc::would_deadlock;
  };
  std::promise<bool> on_its_thread, without_executor;
  clicks.ask(basics::get{}, 60s,
             [&](rondo::error_code, basics::total) { without_executor.set_value(refused()); });
  REQUIRE(without_executor.get_future().get());
  clicks.ask(
      basics::get{}, 60s,
      boost::asio::bind_executor(boost::asio::system_executor(), [&](rondo::error_code, basics::total) {
        on_its_thread.set_value(refused());
      }));
  REQUIRE(on_its_thread.get_future().get());
  REQUIRE(exit_status_of_child([&] { return refused() ? 0 : 1; }) == 0);
  REQUIRE(clicks.ask(basics::get{}, 60s, rondo::block).value().value == 0);
  ::alarm(0);
}

TEST_CASE(
    "what a forked child destroys of a service and its clients stays whole in the parent, and the child "
    "makes its own",
    "[service][fork]") {
  std::optional<served> s(std::in_place);
  std::optional<rondo::service::client> c(std::in_place, s->options());
  auto const clicks = c->find<basics::counter>("clicks").value();
  REQUIRE(clicks.ask(basics::get{}, 60s, rondo::block).has_value());
  REQUIRE(exit_status_of_child([&] {
            c.reset();
            s.reset();
            if (!children_have_threads) return 7;
            served mine;
            rondo::service::client own(mine.options());
            auto const own_clicks = own.find<basics::counter>("clicks").value();
            return own_clicks.ask(basics::get{}, 60s, rondo::block) ? 7 : 1;
          }) == 7);
  REQUIRE_FALSE(clicks.tell(basics::add{1}, {}, rondo::block));
  REQUIRE(clicks.ask(basics::get{}, 60s, rondo::block).value().value == 1);
  REQUIRE(c->connections_made() == 1);
  rondo::service::client another(s->options());  // the socket is still there
  REQUIRE(another.find<basics::counter>("clicks").has_value());
}
