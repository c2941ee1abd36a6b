// A report names the handlers that are running, and since when, so that an operator finds the actor that hangs.
#include <atomic>

#include "runtime/service/monitor/report.hpp"
#include "tests/service/basics_fixture.hpp"

using namespace service_test;
using rondo::service::reporter;

namespace report_running_test {

std::atomic<bool> entered{false}, may_leave{false};

struct wait_there {};
struct fail_there {};

struct sluggard {
  using messages = rondo::messages<wait_there, fail_there>;
  void on(rondo::context&, wait_there const&) {
    entered = true;
    while (!may_leave) std::this_thread::yield();
  }
  void on(rondo::context& ctx, fail_there const&) { ctx.fail(rondo::errc::handler_failed); }
};

RONDO_MODULE(sluggards, sluggard)

std::unique_ptr<rondo::runtime> start_sluggards(bool polling) {
  rondo::config settings;
  settings.device = "cpu";
  settings.teams = 2;
  settings.polling = polling;
  return std::make_unique<rondo::runtime>(rondo::use<sluggards>, settings);
}

}  // namespace report_running_test
using namespace report_running_test;

TEST_CASE("a handler that hangs is named, with a lower bound of its running time", "[report]") {
  entered = may_leave = false;
  struct let_go {
    ~let_go() { may_leave = true; }
  };
  auto const rt = start_sluggards(false);
  let_go const at_the_end;
  auto const slow = rt->launch<sluggard>("slow");
  reporter watcher{*rt, {}};
  REQUIRE_FALSE(slow.try_tell(wait_there{}));
  REQUIRE(eventually([] { return entered.load(); }));
  auto const first = watcher.gather();
  auto const second = watcher.gather();
  auto const& run = second.actors.at(0)->running;
  REQUIRE(first.actors.at(0)->running);
  REQUIRE(run);
  CHECK(run->message.find("wait_there") != std::string::npos);
  CHECK(run->for_ns > first.actors.at(0)->running->for_ns);
  CHECK(run->for_ns <= second.clock_ns - first.clock_ns);
  auto const& team = *second.devices.at(0)->teams.at(run->team);
  CHECK(team.busy);
  CHECK(team.actor_index == second.actors[0]->index);
  may_leave = true;
  REQUIRE(eventually([&] { return !watcher.gather().actors.at(0)->running; }));
}

TEST_CASE("a team that keeps an idle actor does not count as busy", "[report]") {
  auto const rt = start_sluggards(true);  // the team of a pinned actor never releases it
  may_leave = true;
  auto const pinned = rt->launch<sluggard>("pinned", {.pinned = true});
  reporter watcher{*rt, {}};
  REQUIRE_FALSE(pinned.try_tell(wait_there{}));
  REQUIRE(eventually([&] { return watcher.gather().actors.at(0)->waiting == 0; }));
  auto const r = watcher.gather();
  CHECK(r.actors[0]->pinned);
  CHECK_FALSE(r.actors[0]->running);
}

TEST_CASE("a failure is reported with the message and the consequence", "[report]") {
  auto const rt = start_sluggards(false);
  auto const fragile =
      rt->launch<sluggard>("fragile", {.supervise = {.poison_after = 1, .max_restarts = 100}});
  reporter watcher{*rt, {}};
  REQUIRE_FALSE(fragile.try_tell(fail_there{}));
  rondo::service::report r;
  REQUIRE(eventually([&] {
    r = watcher.gather();
    return r.actors.at(0)->last_failure != nullptr;
  }));
  auto const& f = *r.actors[0]->last_failure;
  CHECK(f.reason == "handler_failed");
  CHECK(f.text.find("handler") != std::string::npos);
  CHECK(f.message.find("fail_there") != std::string::npos);
  CHECK(f.action == "restarted");
}
