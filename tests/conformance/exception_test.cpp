// G9: an exception of an actor's code fails only its actor.
#include "runtime/observe/telemetry.hpp"
#include "tests/conformance/harness.hpp"

using namespace conformance;
using Catch::Matchers::Contains;

namespace {

/// Whether a handler's exception is one: a GPU has none, so its handlers fail without a text.
bool throws_on(variant const& v) { return v.settings.device == "cpu" || v.settings.device == "emulated"; }

/// A runtime of this variant, and its failure reports.
struct watched {
  explicit watched(variant const& v) : rt(start(v.settings)) {}
  std::unique_ptr<rondo::runtime> rt;
  listener<std::string> reports;
  rondo::subscription subscription = rt->on_failure_report(reports.handler());

  std::string first_report() const {
    if (!reports.wait_for(1)) throw std::runtime_error("no failure was reported in time");
    return reports.all().front();
  }
};

}  // namespace

TEST_CASE("a handler that throws fails only its actor, which is restarted; what it sent stays sent", "[G9]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  watched w(v);
  listener<rondo::dead_letter> letters;
  auto const subscription = w.rt->on_dead_letter(letters.handler());
  auto const bystander = w.rt->launch<thrower>("bystander");
  auto const actor = w.rt->launch<thrower>("fragile", {.pinned = pinned, .supervise = {.poison_after = 1}});
  shared_word tried;
  REQUIRE_FALSE(tell(actor, count_up{}));
  REQUIRE(ask(actor, read_count{}).value().value == 1);
  REQUIRE_FALSE(tell(actor, blow{tried.get(), 1, bystander.id()}));
  CHECK(ask(actor, read_count{}).value().value == 0);
  CHECK(eventually([&] { return ask(bystander, read_count{}).value().value == 1; }));
  auto const text = w.first_report();
  CHECK_THAT(text, Contains("fragile") && Contains("thrower") && Contains("blow") && Contains("restarted"));
  if (throws_on(v)) CHECK_THAT(text, Contains(thrown_text));
  REQUIRE(letters.wait_for(1));
  CHECK(letters.all().front().reason == errc::exception_thrown);
  auto const t = at_rest(*w.rt);
  CHECK(t.conserved());
  CHECK(report_of(t, actor.id()).now.totals.failures == 1);
}

TEST_CASE("a message whose handler throws is retried, and quarantined after the failures that the rule sets",
          "[G9]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  watched w(v);
  auto const actor =
      w.rt->launch<thrower>("fragile", {.supervise = {.poison_after = 3, .max_restarts = 100}});
  shared_word tried;
  REQUIRE_FALSE(tell(actor, blow{tried.get(), 2, {}}));
  CHECK(ask(actor, read_count{}, 0).value().value == 1);
  CHECK(tried == 3);
  tried = 0;
  REQUIRE_FALSE(tell(actor, blow{tried.get(), ~0u, {}}));
  CHECK(ask(actor, read_count{}).value().value == 0);
  CHECK(tried == 3);
  CHECK(ask(actor, blow_asked{}).error() == errc::quarantined);
  REQUIRE_FALSE(tell(actor, blow_odd{}));
  CHECK(ask(actor, read_count{}));
  REQUIRE(w.reports.wait_for(11));
  if (throws_on(v)) CHECK_THAT(w.reports.all().back(), Contains("not a std::exception"));
}

TEST_CASE("a rule of stop ends an actor whose handler throws, and its asker gets the reason", "[G9]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  watched w(v);
  auto const actor = w.rt->launch<thrower>("doomed", {.supervise = {.rule = rondo::on_failure::stop}});
  CHECK(ask(actor, blow_asked{}).error() == errc::exception_thrown);
  CHECK(eventually([&] { return !w.rt->find<thrower>("doomed"); }));
  CHECK_THAT(w.first_report(), Contains("doomed") && Contains("blow_asked") && Contains("stopped"));
}

TEST_CASE("batches, wide messages and lanes that throw fail their actor", "[G9]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  watched w(v);
  rondo::actor_options const once{.supervise = {.poison_after = 1, .max_restarts = 100}};
  auto const actor = w.rt->launch<thrower>("fragile", once);
  REQUIRE_FALSE(tell(actor, blow_batch{}));
  CHECK(ask(actor, read_count{}));
  CHECK(ask(actor, blow_wide{20, 13}).error() == errc::exception_thrown);
  CHECK(ask(actor, blow_wide{1, 0}).error() == errc::exception_thrown);
  CHECK(ask(actor, blow_wide{0, 0}).error() == errc::exception_thrown);
  CHECK(ask(actor, blow_wide{20, 20}).value().value == 20);
  auto const together = w.rt->launch<throwers_together>("together", once);
  CHECK(ask(together, blow_asked{}).error() == errc::exception_thrown);
  REQUIRE_FALSE(tell(together, blow_odd{}));
  CHECK(ask(together, read_count{}).value().value == 7);
  REQUIRE(w.reports.wait_for(6));
  for (auto const& text : w.reports.all())
    if (throws_on(v)) CHECK_THAT(text, Contains(thrown_text));
}

TEST_CASE("an on_start or a constructor that throws stops the actor after the restarts that the rule allows",
          "[G9][G8]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  watched w(v);
  rondo::actor_options const twice{.pinned = pinned,
                                   .supervise = {.max_restarts = 2, .within_ms = 3'600'000}};
  auto const starts = w.rt->launch<throws_at_start>("starts", twice);
  CHECK(eventually([&] { return !w.rt->find<throws_at_start>("starts"); }));
  CHECK(ask(starts, read_count{}).error() == errc::actor_gone);
  REQUIRE(w.reports.wait_for(3));
  CHECK_THAT(w.reports.all().back(), Contains("starts") && Contains("at its start") && Contains("stopped"));
  if (!throws_on(v)) return;
  CHECK_THAT(w.reports.all().back(), Contains(thrown_text));
  auto const made = w.rt->launch<throws_when_made>("made", twice);
  CHECK(eventually([&] { return !w.rt->find<throws_when_made>("made"); }));
  CHECK(ask(made, read_count{}).error() == errc::actor_gone);
  REQUIRE(w.reports.wait_for(6));
  CHECK_THAT(w.reports.all().back(), Contains("made") && Contains("at its start") && Contains(thrown_text));
}
