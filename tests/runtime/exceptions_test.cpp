// Exceptions of completion handlers and subscribers: they are reported, and the threads that call them go on.
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/use_future.hpp>
#include <mutex>
#include <stdexcept>

#include "actors/supervision/supervisor.hpp"
#include "runtime/base/guest.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/counter_fixture.hpp"

using namespace rondo_test;
namespace asio = boost::asio;
using Catch::Matchers::Contains;

namespace exceptions_test {

struct fuse {};
struct fragile {
  using messages = rondo::messages<fuse>;
  RONDO_HD void on(rondo::context&, fuse const&) { throw std::runtime_error("bang"); }
};
struct office : rondo::supervisor<rondo::one_for_one<1, 600'000>, fragile> {};
RONDO_MODULE(offices, office, fragile)

}  // namespace exceptions_test

namespace {

std::unique_ptr<rondo::runtime> two_teams_on(char const* device) {
  rondo::config settings;
  settings.device = device;
  settings.teams = 2;
  return start(settings);
}

/// Collects the failure reports of a runtime.
class reports_of {
 public:
  explicit reports_of(rondo::runtime& rt)
      : subscription_(rt.on_failure_report([this](std::string const& r) {
          std::lock_guard const lock(mutex_);
          all_.push_back(r);
        })) {}
  /// Whether a report contains `text`, after a while.
  bool say(std::string const& text) const {
    return eventually([&] { return count(text) != 0; });
  }
  std::vector<std::string> all() const {
    std::lock_guard const lock(mutex_);
    return all_;
  }
  std::size_t count(std::string const& text) const {
    std::lock_guard const lock(mutex_);
    return static_cast<std::size_t>(
        std::ranges::count_if(all_, [&](auto const& r) { return r.find(text) != std::string::npos; }));
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
  rondo::subscription subscription_;  // last: its handler uses the others
};

auto throwing(char const* text) {
  return [text](auto const&...) { throw std::runtime_error(text); };
}
auto on_system(auto handler) { return asio::bind_executor(asio::system_executor{}, std::move(handler)); }

}  // namespace

TEST_CASE("a completion handler that throws is reported, and later ones are called", "[runtime][G9]") {
  auto const* const device = GENERATE("cpu", "emulated");
  INFO(device);
  auto const rt = two_teams_on(device);
  reports_of const reports(*rt);
  auto const c = rt->launch<counter>("c");
  c.ask(get{}, {}, throwing("from an ask"));
  c.tell(add{1}, {}, throwing("from a tell"));
  rondo::inspect(c, throwing("from an inspection"));
  asio::post(rt->executor(), [] { throw 5; });
  for (auto const* text : {"from an ask", "from a tell", "from an inspection", "not a std::exception"})
    CHECK(reports.say(text));
  CHECK(reports.count("a completion handler threw an exception") == 4);
  CHECK(soon(c.ask(get{}, patience, asio::use_future)).value == 1);
}

TEST_CASE("a handler that throws on a thread of the device is reported, and the thread goes on",
          "[runtime][G9]") {
  auto const* const device = GENERATE("cpu", "emulated");
  INFO(device);
  auto const rt = two_teams_on(device);
  reports_of const reports(*rt);
  auto const c = rt->launch<counter>("c");
  for (int i = 0; i < 8; ++i) c.ask(get{}, {}, on_system(throwing("from an ask")));
  rondo::inspect(c, on_system(throwing("from an inspection")));
  rondo::terminate(rt->launch<counter>("gone"), rondo::termination::drain, on_system(throwing("at an end")));
  CHECK(eventually([&] { return reports.count("from an ask") == 8; }));
  CHECK(reports.say("from an inspection"));
  CHECK(reports.say("at an end"));
  CHECK(c.ask(get{}, patience, rondo::block));
  CHECK(rt->stop().stopped);
}

TEST_CASE("an exception on the program's own executor leaves its run, and is not reported", "[runtime][G9]") {
  auto const rt = two_teams_on("cpu");
  reports_of const reports(*rt);
  auto const c = rt->launch<counter>("c");
  asio::io_context own;
  auto const work = asio::make_work_guard(own);
  c.ask(get{}, {}, asio::bind_executor(own.get_executor(), throwing("mine")));
  CHECK_THROWS_WITH(own.run(), "mine");
  c.ask(get{}, {}, throwing("the runtime's"));
  CHECK(reports.say("the runtime's"));
  CHECK(reports.count("mine") == 0);
}

// A guest's thread may already be inside the executor of the handler, which then runs inside the actor's handler.
TEST_CASE("an exception of a handler that a guest calls leaves the run of its executor",
          "[runtime][guest][G9]") {
  rondo::config settings;
  settings.device = "cpu";
  settings.teams = 1;
  settings.guest_teams = 1;
  auto const rt = start(settings);
  reports_of const reports(*rt);
  auto const c = rt->launch<counter>("c");
  auto const guest = rt->make_guest();
  asio::io_context own;
  auto const work = asio::make_work_guard(own);
  auto const strand = asio::make_strand(own);
  auto const asks_on = [&](auto executor, char const* text) {
    asio::post(executor, [&, executor, text] {
      rondo::quiet_posts const quiet;
      c.ask(get{}, {}, asio::bind_executor(executor, throwing(text)));
      guest->run(1s);
    });
  };
  asks_on(own.get_executor(), "mine");
  CHECK_THROWS_WITH(own.run(), "mine");
  asks_on(strand, "in a strand");
  // The guest calls the handler in the strand, so it is reported; if a team was faster, the strand has queued it.
  bool thrown = false;
  CHECK(eventually([&] {
    try {
      own.poll();
    } catch (std::runtime_error const&) {
      thrown = true;
    }
    return thrown || reports.count("in a strand") != 0;
  }));
  CHECK(c.ask(get{}, patience, rondo::block));
}

TEST_CASE("a subscriber of dead letters that throws is reported, and the others are called",
          "[runtime][G9]") {
  auto const rt = two_teams_on("cpu");
  reports_of const reports(*rt);
  std::atomic<int> calls{0};
  auto const first = rt->on_dead_letter(throwing("over a letter"));
  auto const second = rt->on_dead_letter([&](auto const&) { ++calls; });
  auto const c = rt->launch<counter>("c", {.active = false});
  for (int i = 0; i < 3; ++i) REQUIRE_FALSE(c.try_tell(add{1}));
  CHECK_FALSE(rondo::terminate(c, rondo::termination::discard, rondo::block));
  CHECK(eventually([&] { return calls == 3 && reports.count("over a letter") == 3; }));
  CHECK(reports.say("a subscriber of dead letters threw an exception"));
}

TEST_CASE("a subscriber of failure reports that throws is not called for its own exception",
          "[runtime][G9]") {
  auto const rt = two_teams_on("cpu");
  std::atomic<int> calls{0};
  auto const bad = rt->on_failure_report([&](auto const&) {
    ++calls;
    throw std::runtime_error("over a report (this line is part of the test)");
  });
  reports_of const reports(*rt);
  for (int i = 0; i < 3; ++i) asio::post(rt->executor(), [] { throw std::runtime_error("a reason"); });
  CHECK(eventually([&] { return calls == 3 && reports.count("a reason") == 3; }));
  std::promise<void> later_on;
  asio::post(rt->executor(), [&] { later_on.set_value(); });
  soon(later_on.get_future());
  CHECK(calls == 3);
  CHECK(reports.count("over a report") == 0);
}

TEST_CASE("a handler that throws on the thread of copies is reported, and copies go on", "[runtime][G9]") {
  auto const rt = two_teams_on("emulated");
  reports_of const reports(*rt);
  rondo::unified_buffer<std::uint32_t> data(rt->memory(), {64});
  for (auto& number : data.overwrite().value()) number = 1;
  data.async_sync_to_device(throwing("after a copy"));
  CHECK(reports.say("after a copy"));
  for (auto& number : data.overwrite().value()) number = 2;
  CHECK_NOTHROW(soon(data.async_sync_to_device(asio::use_future)));
}

TEST_CASE("handlers that throw while the runtime stops do not keep the others from being called",
          "[runtime][G9]") {
  auto const* const device = GENERATE("cpu", "emulated");
  INFO(device);
  auto rt = two_teams_on(device);
  auto const c = rt->launch<counter>("c", {.active = false});
  std::atomic<int> calls{0};
  auto const counted = [&](auto const&...) {
    ++calls;
    throw std::runtime_error("at the end");
  };
  for (int i = 0; i < 4; ++i) {
    c.ask(get{}, {}, counted);
    c.ask(get{}, {}, on_system(counted));
  }
  rt.reset();
  CHECK(calls == 8);
}

TEST_CASE(
    "a failure report that points to a text has it, also of an actor that fails because another one did",
    "[runtime][G9]") {
  rondo::config settings;
  settings.device = "cpu";
  settings.teams = 2;
  rondo::runtime rt(rondo::use<exceptions_test::offices>, settings);
  reports_of const reports(rt);
  auto const office =
      rt.launch<exceptions_test::office>("office", {.supervise = {.rule = rondo::on_failure::stop}});
  auto const child = office.ask(rondo::child_at{0}, patience, rondo::block).value();
  REQUIRE(child.reason == errc::ok);
  rondo::actor_ref<exceptions_test::fragile> const fragile(office.mail(), child.who);
  REQUIRE_FALSE(fragile.try_tell(exceptions_test::fuse{}));  // it is tried again, and fails again
  REQUIRE(reports.say("'office'"));
  for (auto const& report : reports.all()) {
    INFO(report);
    if (report.find("'office'") != std::string::npos)
      CHECK_THAT(report, Contains("failed more often than its strategy allows") && !Contains("has its text"));
    else
      CHECK_THAT(report, Contains("has its text: bang"));
  }
}
