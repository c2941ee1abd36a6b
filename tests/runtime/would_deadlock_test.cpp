// Blocking calls are refused on threads that would wait for themselves, and in forked children. A test that hangs is
// killed by its alarm.
#include <unistd.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>

#include "runtime/base/guest.hpp"
#include "runtime/checkpoint.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/observe/inspection.hpp"
#include "tests/catch.hpp"
#include "tests/forked.hpp"
#include "tests/runtime/counter_fixture.hpp"
#include "tests/scratch_directory.hpp"

using namespace rondo_test;
using rondo::no_timeout;
namespace asio = boost::asio;

namespace {

struct alarm_clock {
  alarm_clock() { ::alarm(static_cast<unsigned>(patience.count())); }
  ~alarm_clock() { ::alarm(0); }
};

/// Tries every blocking operation; the first outcome that is not would_deadlock, or ok.
errc first_allowed(rondo::actor_ref<counter> c) {
  rondo::error_code const outcomes[] = {
      c.ask(get{}, no_timeout, rondo::block).error(),
      c.ask(get{}, 1ms, rondo::block).error(),
      c.tell(add{1}, {}, rondo::block),
      c.tell(add{1}, {.wait_for_room = true}, rondo::block),
      rondo::inspect(c, rondo::block).error(),
      rondo::deactivate(c, rondo::block),
      rondo::terminate(c, rondo::termination::drain, rondo::block),
  };
  for (auto const& e : outcomes)
    if (e != errc::would_deadlock) return e ? static_cast<errc>(e.value()) : errc::not_found;
  return errc::ok;
}

rondo::config settings_for(std::string const& device) {
  rondo::config settings;
  settings.device = device;
  settings.teams = 1;
  settings.lanes = 1;
  settings.guest_teams = 1;
  return settings;
}

}  // namespace

TEST_CASE("a blocking call fails on the runtime's own thread", "[block]") {
  alarm_clock const limit;
  auto const rt = start();
  auto const c = rt->launch<counter>("c");
  std::promise<errc> result;
  asio::post(rt->executor(), [&] { result.set_value(first_allowed(c)); });
  CHECK(soon(result.get_future()) == errc::ok);
  CHECK(c.ask(get{}, patience, rondo::block).value().value == 0);  // nothing was sent
}

TEST_CASE("a blocking call fails in a handler of an actor", "[block]") {
  alarm_clock const limit;
  auto const rt = start(settings_for(GENERATE("cpu", "emulated")));
  auto const c = rt->launch<counter>("c");
  bool const pinned = GENERATE(false, true);
  auto const caller = rt->launch<counter>("caller", {.pinned = pinned});
  std::promise<errc> result;
  hook = [&] { result.set_value(first_allowed(c)); };
  REQUIRE_FALSE(caller.try_tell(call{}));
  CHECK(soon(result.get_future()) == errc::ok);
  CHECK(c.ask(get{}, patience, rondo::block).value().value == 0);
}

TEST_CASE("a blocking call fails in a completion handler on a team or a poller", "[block]") {
  alarm_clock const limit;
  auto const rt = start(settings_for(GENERATE("cpu", "emulated", "cpu,emulated")));
  auto const c = rt->launch<counter>("c", {.device = rt->device_count() - 1});
  std::promise<errc> result;
  c.ask(get{}, patience, asio::bind_executor(asio::system_executor(), [&](error_code, total) {
          result.set_value(first_allowed(c));
        }));
  CHECK(soon(result.get_future()) == errc::ok);
}

TEST_CASE("a blocking call fails in a handler that a guest runs, and works between two runs",
          "[block][guest]") {
  alarm_clock const limit;
  auto const rt = start(settings_for("cpu"));
  auto const c = rt->launch<counter>("c"), caller = rt->launch<counter>("caller");
  auto const guest = rt->make_guest();
  REQUIRE(guest);
  // Hold the only team, so that the guest runs the handler.
  std::promise<void> held, released;
  hook = [&] {
    held.set_value();
    released.get_future().wait();
  };
  REQUIRE_FALSE(rt->launch<counter>("busy").try_tell(call{}));
  soon(held.get_future());
  std::thread::id ran_on;
  auto outcome = errc::not_found;
  hook = [&] {
    ran_on = std::this_thread::get_id();
    outcome = first_allowed(c);
  };
  {
    rondo::quiet_posts const quiet;
    REQUIRE_FALSE(caller.try_tell(call{}));
  }
  CHECK(guest->run(1s) == 1);
  CHECK(ran_on == std::this_thread::get_id());
  CHECK(outcome == errc::ok);
  released.set_value();
  CHECK(c.ask(get{}, patience, rondo::block).has_value());
}

TEST_CASE("a thread of one runtime may block on another", "[block]") {
  alarm_clock const limit;
  auto const one = start(), two = start(settings_for("emulated"));
  auto const a = one->launch<counter>("a"), b = two->launch<counter>("b");
  REQUIRE_FALSE(b.try_tell(add{5}));
  std::promise<std::uint64_t> result;
  a.ask(get{}, patience,
        [&](error_code, total) { result.set_value(b.ask(get{}, patience, rondo::block).value().value); });
  CHECK(soon(result.get_future()) == 5);
  std::promise<errc> in_handler;
  hook = [&] {
    auto const answer = b.ask(get{}, patience, rondo::block);
    in_handler.set_value(answer ? first_allowed(a) : static_cast<errc>(answer.error().value()));
  };
  REQUIRE_FALSE(a.try_tell(call{}));
  CHECK(soon(in_handler.get_future()) == errc::ok);
}

TEST_CASE("blocking calls fail in a forked child, whose runtime has no threads", "[block]") {
  alarm_clock const limit;
  auto const rt = start(settings_for(GENERATE("cpu", "emulated")));
  auto const c = rt->launch<counter>("c");
  REQUIRE(c.ask(get{}, patience, rondo::block).has_value());
  CHECK(exit_status_of_child([&] { return first_allowed(c) == errc::ok ? 0 : 1; }) == 0);
  CHECK(c.ask(get{}, patience, rondo::block).has_value());
  // What the child makes itself can be used there.
  CHECK(exit_status_of_child([] { return rondo::own_threads().would_deadlock() ? 1 : 0; }) == 0);
}

TEST_CASE("a checkpoint is refused where it would wait for its caller, and works on the runtime's own thread",
          "[block][checkpoint]") {
  alarm_clock const limit;
  scratch_directory folder("would_deadlock");
  auto settings = settings_for(GENERATE("cpu", "emulated"));
  settings.stop_timeout_ms = 3'600'000;  // a checkpoint that waited would be ended by the alarm
  auto const rt = start(settings);
  auto const write = [&] {
    try {
      rondo::checkpoint(*rt, folder.directory / "checkpoint");
    } catch (std::runtime_error const& e) {
      return std::string(e.what());
    }
    return std::string("written");
  };
  std::promise<std::string> in_handler, on_service;
  hook = [&] { in_handler.set_value(write()); };
  REQUIRE_FALSE(rt->launch<counter>("c").try_tell(call{}));
  CHECK(soon(in_handler.get_future()).find("wait for itself") != std::string::npos);
  asio::post(rt->executor(), [&] { on_service.set_value(write()); });
  CHECK(soon(on_service.get_future()) == "written");
  CHECK(exit_status_of_child([&] { return write() == "written" ? 1 : 0; }) == 0);
}

TEST_CASE("a blocking copy fails on the copier's thread, and works on the runtime's own",
          "[block][transfers]") {
  alarm_clock const limit;
  auto const rt = start(settings_for("emulated"));
  rondo::unified_buffer<int> data(rt->memory(), {10});
  data.overwrite().value()[0] = 1;
  std::promise<error_code> on_copier, on_service;
  asio::post(data.memory().copier, [&] { on_copier.set_value(data.async_sync_to_device(rondo::block)); });
  CHECK(soon(on_copier.get_future()) == errc::would_deadlock);
  asio::post(rt->executor(), [&] { on_service.set_value(data.async_sync_to_device(rondo::block)); });
  CHECK_FALSE(soon(on_service.get_future()));
  CHECK(exit_status_of_child(
            [&] { return data.async_sync_to_host(rondo::block) == errc::would_deadlock ? 0 : 1; }) == 0);
}
