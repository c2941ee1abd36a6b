// A reply has the type that its message declares.
#include "runtime/observe/telemetry.hpp"
#include "tests/conformance/harness.hpp"

using namespace conformance;
using Catch::Matchers::Contains;

namespace {
rondo::actor_options const once{.supervise = {.poison_after = 1, .max_restarts = 100}};
}

TEST_CASE(
    "a reply of another type than its message declares fails the handler, and the asker gets the reason",
    "[G6][G9]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  listener<std::string> reports;
  auto const subscription = rt->on_failure_report(reports.handler());
  auto options = once;
  options.pinned = pinned;
  auto const actor = rt->launch<liar>("liar", options);
  CHECK(ask(actor, mislead{}).error() == errc::wrong_reply);
  REQUIRE(reports.wait_for(1));
  CHECK_THAT(reports.all().front(), Contains("liar") && Contains("mislead") && Contains("declares"));
  CHECK(at_rest(*rt).late_answers == 0);  // the wrong reply was not sent
}

TEST_CASE("a deferred reply of another type fails its handler, and the asker gets the reason", "[G6][G9]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<liar>("liar", once);
  for (bool const well : {true, false}) {
    pending<count_is> asked;
    actor.ask(promise{}, rondo::ask_options{}, asked.handler());
    REQUIRE_FALSE(tell(actor, keep_promise{well}));
    CHECK(asked.wait() == (well ? errc::ok : errc::wrong_reply));
    CHECK(asked.reply->value == (well ? 5 : 0));
  }
  CHECK(report_of(at_rest(*rt), actor.id()).now.totals.failures == 1);
}

TEST_CASE("a reply to a message that is not an ask is refused, whatever its type", "[G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<liar>("liar", once);
  REQUIRE_FALSE(tell(actor, count_up{}));
  auto const refused = static_cast<std::uint64_t>(errc::wrong_state);
  CHECK(ask(actor, read_count{}).value().value == (refused << 32 | refused));
  REQUIRE_FALSE(tell(actor, mislead{}));  // told, not asked
  CHECK(ask(actor, read_count{}).value().value == (refused << 32 | refused));
}

TEST_CASE("the value that a handler returns is its reply, unless it has replied or failed", "[G6]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto options = once;
  options.pinned = pinned;
  auto const actor = rt->launch<liar>("liar", options);
  CHECK(ask(actor, read_count{}).value().value == 0);
  CHECK(ask(actor, answer_twice{}).value().value == 1);
  CHECK(ask(actor, fail_quietly{}).error() == errc::handler_failed);
  REQUIRE_FALSE(tell(actor, read_count{}));  // nobody waits for the value
  CHECK(ask(actor, read_count{}).value().value == 0);
  auto const together = rt->launch<throwers_together>("together", options);
  CHECK(ask(together, read_count{}).value().value == 7);
  CHECK(at_rest(*rt).late_answers == 0);
}
