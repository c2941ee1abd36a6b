// G9: losing a device ends every pending ask with an error that says so and names what ran, and a new runtime resumes
// from the last checkpoint.
#include "runtime/checkpoint.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/observe/telemetry.hpp"
#include "tests/conformance/harness.hpp"

using namespace conformance;
using Catch::Matchers::Contains;

namespace {

std::vector<variant> losable_variants() {
  auto all = variants();
  std::erase_if(all, [](variant const& v) { return v.settings.device != "emulated"; });
  return some_of(std::move(all));
}

}  // namespace

TEST_CASE("a lost device ends each pending operation once, and names what ran", "[G9]") {
  auto const v = GENERATE(from_range(losable_variants()));
  INFO(v.name);
  in_reach<gate> const reached;
  gate& at = *reached;
  auto const [rt, device] = start_losable(v.settings);
  gate_keeper const keeper{at};
  listener<std::string> reports;
  auto const subscription = rt->on_failure_report(reports.handler());
  auto const running = rt->launch<adder>("running");
  auto const asleep = rt->launch<adder>("asleep", {.capacity = 2, .active = false});
  auto const deferring = rt->launch<adder>("deferring");

  std::vector<pending<total>> asked(5);
  deferring.ask(later{}, rondo::ask_options{}, asked[0].handler());  // handled, but not answered yet
  REQUIRE(ask(deferring, get{}));
  asleep.ask(get{}, rondo::ask_options{}, asked[1].handler());  // in a mailbox
  hold_at(running, at);
  running.ask(get{}, {.timeout = 1h}, asked[2].handler());  // behind the handler that is running
  REQUIRE_FALSE(tell(asleep, add{1}));
  std::promise<error_code> patient;
  auto waited = patient.get_future();
  asleep.tell(add{1}, {.wait_for_room = true}, [&](error_code ec) { patient.set_value(ec); });
  device.hold_submissions(true);
  deferring.ask(get{}, rondo::ask_options{}, asked[3].handler());  // possibly still in the submission ring
  std::promise<error_code> blocked;
  auto unblocked = blocked.get_future();
  std::thread waits([&, &to = deferring] { blocked.set_value(to.ask(later{}, 1h, rondo::block).error()); });
  deferring.ask(later{}, {.timeout = 1h}, asked[4].handler());
  std::promise<error_code> controlled;
  auto control = controlled.get_future();
  rondo::terminate(running, rondo::termination::drain, [&](error_code ec) { controlled.set_value(ec); });

  device.lose();
  waits.join();
  CHECK(unblocked.get() == errc::device_lost);
  // Operations that were answered before the loss have their answers; no others do.
  for (std::size_t i = 0; i < asked.size(); ++i) {
    auto const ec = asked[i].wait();
    INFO(i << ": " << ec.message());
    CHECK((ec == errc::device_lost || (i == 3 && !ec)));
    if (ec) CHECK_THAT(ec.message(), Contains("device") && Contains("checkpoint"));
  }
  for (auto* outcome : {&waited, &control}) {
    REQUIRE(outcome->wait_for(patience) == std::future_status::ready);
    CHECK(outcome->get() == errc::device_lost);
  }
  REQUIRE(eventually([&] {
    std::string all;
    for (auto const& line : reports.all()) all += line + "\n";
    return all.find("running") != std::string::npos && all.find("hold") != std::string::npos &&
           all.find("the device was lost:") != std::string::npos;
  }));

  CHECK(running.try_tell(add{1}) == errc::device_lost);
  CHECK(tell(running, add{1}) == errc::device_lost);
  CHECK(tell(running, add{1}, {.wait_for_room = true}) == errc::device_lost);
  CHECK(ask(deferring, get{}).error() == errc::device_lost);
  CHECK(rt->try_launch<adder>("too late").error() == errc::device_lost);
  CHECK(deactivate(asleep) == errc::device_lost);
  CHECK(rt->snapshot().asks_waiting == 0);

  keeper.open();
  CHECK(rt->stop().stopped);
  for (auto const& a : asked) CHECK(a.calls->load() == 1);
  CHECK(ask(deferring, get{}).error() == errc::device_lost);  // the first reason is kept
}

TEST_CASE("after a loss a new runtime resumes from the last checkpoint", "[G9]") {
  auto const v = GENERATE(from_range(losable_variants()));
  INFO(v.name);
  scratch_file const file;
  auto [rt, device] = start_losable(v.settings);
  auto const actor = rt->launch<adder>("kept");
  REQUIRE_FALSE(tell(actor, add{40}));
  REQUIRE_FALSE(tell(actor, add{2}));
  auto const asleep = rt->launch<adder>("asleep", {.active = false});
  for (int i = 0; i < 3; ++i) REQUIRE_FALSE(tell(asleep, add{7}));
  rondo::checkpoint(*rt, file.path);
  REQUIRE_FALSE(tell(actor, add{1000}));
  pending<total> asked;
  actor.ask(later{}, rondo::ask_options{}, asked.handler());
  device.lose();
  CHECK(asked.wait() == errc::device_lost);
  std::string why;
  try {
    rondo::checkpoint(*rt, file.path);
  } catch (std::runtime_error const& e) {
    why = e.what();
  }
  CHECK_THAT(why, Contains("the device faulted"));

  auto const second = start(v.settings);  // the lost runtime still exists
  rondo::restore(*second, file.path);
  auto const kept = second->find<adder>("kept").value(), slept = second->find<adder>("asleep").value();
  CHECK(ask(kept, get{}).value().value == 42);
  REQUIRE_FALSE(activate(slept));
  CHECK(ask(slept, get{}, 0).value().value == 21);
  CHECK(at_rest(*second).conserved());
  rt.reset();
  REQUIRE_FALSE(tell(kept, add{8}));
  CHECK(ask(kept, get{}).value().value == 50);
}
