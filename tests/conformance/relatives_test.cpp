// What actors ask their host for: timers, answers within a time limit, children, links, and notice of ends; and
// supervisors.
#include "runtime/checkpoint.hpp"
#include "tests/conformance/harness.hpp"

using namespace conformance;

namespace {

using relative_ref = rondo::actor_ref<relative>;
using brittle_ref = rondo::actor_ref<brittle>;

void send(relative_ref const& r, go const& m) { REQUIRE_FALSE(tell(r, m)); }
heard news_of(relative_ref const& r) { return ask_last(r, read_news{}); }
/// Waits until `is` holds for what the relative has heard.
template <class Is>
heard news_when(relative_ref const& r, Is is) {
  heard now{};
  CHECK(eventually([&] { return is(now = news_of(r)); }));
  return now;
}
constexpr std::uint32_t number_of(errc e) { return static_cast<std::uint32_t>(e); }
brittle_ref ref_to(rondo::runtime& rt, rondo::actor_id id) { return {rt.at(id).value().mail(), id}; }
bool is_gone(rondo::runtime& rt, rondo::actor_id id) {
  return eventually([&] { return !rt.at(id); });
}

}  // namespace

TEST_CASE("an actor's timers come once, or again and again until they are cancelled", "[G8]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const r = rt->launch<relative>("r");
  send(r, {.what = errand::timer, .key = 1, .us = 1});
  CHECK(news_when(r, [](heard const& h) { return h.ticks == 1; }).last_tick == 1);
  send(r, {.what = errand::timer, .key = 2, .us = 1000, .repeats = true});
  news_when(r, [](heard const& h) { return h.ticks >= 4; });
  // Set again under the same key: instead of the first one.
  send(r, {.what = errand::timer, .key = 2, .us = 3'600'000'000, .repeats = true});
  std::uint32_t last = 0;
  CHECK(eventually([&] {
    auto const before = std::exchange(last, news_of(r).ticks);
    std::this_thread::sleep_for(20ms);
    return last == before;
  }));
  // A cancelled one does not come, though another one that was set after it does.
  send(r, {.what = errand::timer, .key = 3, .us = 50'000});
  send(r, {.what = errand::cancel, .key = 3});
  send(r, {.what = errand::timer, .key = 4, .us = 100'000});
  CHECK(news_when(r, [&](heard const& h) { return h.last_tick == 4; }).ticks == last + 1);
}

TEST_CASE("an ask with a time limit gets its answer, or one rejection with its correlation", "[G12]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const r = rt->launch<relative>("r");
  auto const other = rt->launch<brittle>("other");
  send(r, {.what = errand::ask, .who = other.id(), .key = 11, .us = 60'000'000, .repeats = true});
  CHECK(news_when(r, [](heard const& h) { return h.answers == 1; }).correlation == 11);
  send(r, {.what = errand::ask, .who = other.id(), .key = 12, .us = 1000});
  auto now = news_when(r, [](heard const& h) { return h.rejections == 1; });
  CHECK(now.correlation == 12);
  CHECK(now.rejected_for == number_of(errc::timed_out));
  REQUIRE_FALSE(terminate(other, rondo::termination::discard));
  send(r, {.what = errand::ask, .who = other.id(), .key = 13, .us = 60'000'000});
  now = news_when(r, [](heard const& h) { return h.rejections == 2; });
  CHECK(now.correlation == 13);
  CHECK(now.rejected_for == number_of(errc::actor_gone));
  CHECK(now.answers == 1);
}

TEST_CASE("a watch brings one message when the other actor has ended, with the reason", "[G8][G9]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const r = rt->launch<relative>("r");
  auto const fragile = rt->launch<brittle>("fragile", {.supervise = {.rule = rondo::on_failure::stop}});
  auto const other = rt->launch<brittle>("other"), unwatched = rt->launch<brittle>("unwatched");
  send(r, {.what = errand::watch, .who = fragile.id()});
  send(r, {.what = errand::watch, .who = fragile.id()});
  send(r, {.what = errand::watch, .who = other.id()});
  send(r, {.what = errand::watch, .who = unwatched.id()});
  send(r, {.what = errand::unwatch, .who = unwatched.id()});
  news_of(r);  // the requests have been made
  REQUIRE_FALSE(tell(fragile, break_down{}));
  auto now = news_when(r, [](heard const& h) { return h.ends == 1; });
  CHECK(now.ended == fragile.id());
  CHECK(now.ended_for == number_of(errc::handler_failed));
  REQUIRE_FALSE(terminate(unwatched, rondo::termination::drain));
  REQUIRE_FALSE(terminate(other, rondo::termination::drain));
  now = news_when(r, [](heard const& h) { return h.ends == 2; });
  CHECK(now.ended == other.id());
  CHECK(now.ended_for == number_of(errc::ok));
  send(r, {.what = errand::watch, .who = other.id()});
  CHECK(news_when(r, [](heard const& h) { return h.ends == 3; }).ended_for == number_of(errc::actor_gone));
}

TEST_CASE("a link ends the other actor when one of them is stopped by a failure", "[G9]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  rondo::supervision const stops{.rule = rondo::on_failure::stop};
  auto const watcher = rt->launch<relative>("watcher"), r = rt->launch<relative>("r"),
             loose = rt->launch<relative>("loose");
  auto const fragile = rt->launch<brittle>("fragile", {.supervise = stops});
  for (auto const& one : {r, loose}) send(one, {.what = errand::link, .who = fragile.id()});
  send(loose, {.what = errand::unlink, .who = fragile.id()});
  news_of(loose);
  send(watcher, {.what = errand::watch, .who = r.id()});
  news_of(watcher);
  news_of(r);
  REQUIRE_FALSE(tell(fragile, break_down{}));
  auto const now = news_when(watcher, [](heard const& h) { return h.ends == 1; });
  CHECK(now.ended == r.id());
  CHECK(now.ended_for == number_of(errc::handler_failed));
  CHECK(is_gone(*rt, r.id()));
  CHECK(news_of(loose).ends == 0);
}

TEST_CASE("an actor launches children with arguments, decides on their failures, and ends them", "[G9]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  listener<std::string> reports;
  auto const subscription = rt->on_failure_report(reports.handler());
  auto const r = rt->launch<relative>("r");
  send(r, {.what = errand::launch, .key = 5, .repeats = true});
  auto now = news_when(r, [](heard const& h) { return h.launches == 1; });
  CHECK(now.correlation == 5);
  REQUIRE(now.launched_for == number_of(errc::ok));
  auto const child = ref_to(*rt, now.child);
  CHECK(rt->find<brittle>("r/brittle-1").value() == child);
  CHECK(ask_last(child, read_value{}).start == 5);
  CHECK(ask_last(child, read_value{}).calls == 2);
  REQUIRE_FALSE(tell(child, break_down{}));
  auto late = pending<value>{};
  now = news_when(r, [](heard const& h) { return h.failures == 1; });
  CHECK(now.failed_for == number_of(errc::handler_failed));
  REQUIRE(reports.wait_for(1));
  CHECK_THAT(reports.all().front(),
             Catch::Matchers::Contains("r/brittle-1") && Catch::Matchers::EndsWith("left to its parent"));
  child.ask(read_value{}, patience, late.handler());  // waits for the decision
  // With its third attempt, the message that fails it is set aside.
  for (std::uint32_t attempt = 2; attempt <= 3; ++attempt) {
    send(r, {.what = errand::restart, .who = child.id()});
    news_when(r, [&](heard const& h) { return h.failures == attempt; });
  }
  send(r, {.what = errand::restart, .who = child.id()});
  REQUIRE_FALSE(late.wait());
  CHECK(late.reply->start == 5);
  CHECK(late.reply->calls == 1);
  send(r, {.what = errand::launch, .key = 6});
  auto const second = news_when(r, [](heard const& h) { return h.launches == 2; }).child;
  CHECK(ask_last(ref_to(*rt, second), read_value{}).start == 7);
  send(r, {.what = errand::end, .who = second});
  CHECK(is_gone(*rt, second));
  REQUIRE_FALSE(terminate(r, rondo::termination::drain));
  CHECK(is_gone(*rt, child.id()));
  CHECK(at_rest(*rt).conserved());
}

TEST_CASE("arguments of a launch are kept for restarts", "[G9]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const b = rt->launch<brittle>("b", {.supervise = {.poison_after = 1}}, {42});
  CHECK(ask_last(b, read_value{}).start == 42);
  REQUIRE_FALSE(tell(b, break_down{}));
  auto const now = ask_last(b, read_value{});
  CHECK(now.start == 42);
  CHECK(now.calls == 1);
}

TEST_CASE("actors that are launched at once each get their arguments, all or none", "[G7][G8][G9]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto settings = v.settings;
  settings.actors = 40;
  auto const rt = start(settings);
  auto const other = rt->launch<brittle>("other");
  for (std::uint32_t life = 0; life < 3; ++life) {
    std::vector<brittle::arguments> given;
    for (std::uint32_t i = 0; i < 39; ++i) given.push_back({100 * life + i});
    rondo::actor_options const options{.capacity = life == 1 ? 100 : 4, .supervise = {.poison_after = 1}};
    auto const many = rt->launch_many<brittle>(given, options);
    REQUIRE(many.size() == given.size());
    for (auto const too_many : {std::size_t{1}, ~std::size_t{0}})
      CHECK_THROWS_AS(rt->launch_many<brittle>(too_many), boost::system::system_error);
    REQUIRE_FALSE(tell(many[7], break_down{}));
    for (std::size_t i = 0; i < many.size(); ++i) {
      auto const now = ask_last(many[i], read_value{});
      REQUIRE(now.start == given[i].start);
      REQUIRE(now.calls == 1);
    }
    CHECK(rt->list().size() == 40);
    for (auto const& one : many) REQUIRE_FALSE(terminate(one, rondo::termination::drain));
    CHECK(ask(many[0], read_value{}).error() == errc::actor_gone);
  }
  for (auto const& one : rt->launch_many<brittle>(3)) CHECK(ask_last(one, read_value{}).start == 7);
  CHECK(rt->launch_many<brittle>(0).empty());
  CHECK(ask_last(other, read_value{}).calls == 1);
  CHECK(at_rest(*rt).conserved());
}

TEMPLATE_TEST_CASE("a supervisor gives a fresh state to those whom its strategy concerns, and gives up",
                   "[G9]", one_office, all_office, rest_office) {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  shared_word times;
  auto const office =
      rt->template launch<TestType>("office", {.supervise = {.rule = rondo::on_failure::stop}});
  brittle_ref child[3];
  for (std::uint32_t i = 0; i < 3; ++i) {
    auto const place = ask(office, rondo::child_at{i}).value();
    REQUIRE(place.reason == errc::ok);
    child[i] = ref_to(*rt, place.who);
    CHECK(ask_last(child[i], read_value{}).calls == 1);
  }
  CHECK(ask(office, rondo::child_at{3}).value().reason == errc::not_found);
  times = 1;
  REQUIRE_FALSE(tell(child[1], break_down{times.get()}));
  CHECK(eventually([&] { return times == 0u; }));
  CHECK(ask_last(child[1], read_value{}).calls == 1);
  bool const fresh[] = {std::is_same_v<TestType, all_office>, true, !std::is_same_v<TestType, one_office>};
  for (std::uint32_t i : {0u, 2u}) {
    // A restart comes some time after that of the one that failed.
    std::uint32_t const calls = fresh[i] ? 1 : 2;
    CHECK(eventually([&] { return ask_last(child[i], read_value{}).calls == calls; }));
  }
  // Two more failures are one too many.
  times = 2;
  REQUIRE_FALSE(tell(child[1], break_down{times.get()}));
  CHECK(is_gone(*rt, office.id()));
  for (auto const& c : child) CHECK(is_gone(*rt, c.id()));
}

TEST_CASE("a checkpoint keeps timers, watches, and children", "[G8][G9]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  scratch_file const file;
  rondo::actor_id first, second, third;
  {
    auto const rt = start(v.settings);
    auto const r = rt->launch<relative>("r"), other = rt->launch<relative>("other");
    first = r.id(), second = other.id();
    send(r, {.what = errand::timer, .key = 9, .us = 1'000'000});
    send(r, {.what = errand::watch, .who = second});
    send(r, {.what = errand::launch, .key = 8, .repeats = true});
    third = news_when(r, [](heard const& h) { return h.launches == 1; }).child;
    rondo::checkpoint(*rt, file.path);
  }
  auto const rt = start(v.settings);
  rondo::restore(*rt, file.path);
  relative_ref const r{rt->at(first).value().mail(), first}, other{rt->at(second).value().mail(), second};
  CHECK(ask_last(ref_to(*rt, third), read_value{}).start == 8);
  CHECK(news_when(r, [](heard const& h) { return h.ticks == 1; }).last_tick == 9);
  REQUIRE_FALSE(terminate(other, rondo::termination::drain));
  CHECK(news_when(r, [](heard const& h) { return h.ends == 1; }).ended == second);
  REQUIRE_FALSE(tell(ref_to(*rt, third), break_down{}));
  CHECK(news_when(r, [](heard const& h) { return h.failures == 1; }).child == third);
}
