// The contents of a report about a runtime, and its encoding.
#include "runtime/service/monitor/report.hpp"

#include "runtime/memory/buffer_pool.hpp"
#include "runtime/text/clean_text.hpp"
#include "tests/service/basics_fixture.hpp"

using namespace service_test;
using Catch::Matchers::Contains;
using rondo::service::report;
using rondo::service::reporter;

namespace {

rondo::reports::actorT const& actor_of(report const& r, std::string_view name) {
  for (auto const& a : r.actors)
    if (a->name == name) return *a;
  throw std::runtime_error("the report has no actor '" + std::string(name) + "'");
}

}  // namespace

TEST_CASE("a report describes the actors and their behaviours", "[report]") {
  auto const* const device = GENERATE("cpu", "emulated");
  INFO(device);
  auto const rt = start(device);
  rondo::service::service_counters counters;
  reporter watcher{*rt, {.name = "shop", .incarnation = 7}, &counters};
  auto const clicks = rt->launch<basics::counter>("clicks", {.capacity = 100});
  auto const sleeper = rt->launch<basics::counter>("sleeper", {.active = false});
  for (int i = 0; i < 10; ++i) REQUIRE_FALSE(clicks.try_tell(basics::add{1}));
  REQUIRE(clicks.ask(basics::get{}, patience, rondo::block).value().value == 10);
  for (int i = 0; i < 3; ++i) REQUIRE_FALSE(sleeper.try_tell(basics::add{1}));
  counters.add(counters.requests, 5);
  counters.count_drop(rondo::service::drop_reason::slow_reader);

  report r;
  REQUIRE(eventually([&] {
    r = watcher.gather();
    return r.conserved && r.waiting == 3 && actor_of(r, "clicks").handled == 11;
  }));
  CHECK(r.service == "shop");
  CHECK(r.incarnation == 7);
  CHECK(r.uptime_ns > 0);
  CHECK(r.gpus.empty());
  auto const& a = actor_of(r, "clicks");
  CHECK(a.behaviour == "rondo::basics::counter");
  CHECK(a.state == "active");
  CHECK(a.capacity == 100);
  CHECK_FALSE(a.pinned);
  CHECK(a.accepted == 11);
  CHECK(a.waiting == 0);
  CHECK(a.latency_samples != 0);
  CHECK(a.latency_counts.size() == r.latency_floors_ns.size());
  CHECK(rondo::service::latency_at(a.latency_counts, r.latency_floors_ns, 0.5) > 0);
  CHECK_FALSE(a.last_failure);
  auto const& s = actor_of(r, "sleeper");
  CHECK(s.state == "launched");
  CHECK(s.waiting == 3);
  CHECK(s.capacity == rt->settings().default_capacity);
  CHECK(s.latency_counts.empty());  // it has handled no message
  CHECK(r.live->handled == 11);
  REQUIRE(r.devices.size() == 1);
  CHECK(r.devices[0]->name == device);
  CHECK(r.devices[0]->teams.size() >= 2);
  CHECK((r.devices[0]->queues != nullptr) == (std::string_view(device) == "emulated"));
  REQUIRE(r.connections);
  CHECK(r.connections->requests == 5);
  CHECK(r.connections->dropped.at(3)->reason == "slow_reader");
  CHECK(r.connections->dropped.at(3)->connections == 1);
}

TEST_CASE("a report lists the memory of a device with its own memory", "[report]") {
  auto const rt = start("emulated");
  auto const held = rt->buffers().acquire_buffer(1000).value();
  auto const r = reporter{*rt, {}}.gather();
  std::vector<std::string> places;
  for (auto const& p : r.pools) places.push_back(p->place);
  CHECK(places == std::vector<std::string>{"host", "device", "pinned"});
  CHECK(r.pools[1]->buffers_in_use == 1);
  CHECK(r.pools[1]->in_use_bytes >= 1000);
  CHECK(r.pools[1]->cap_bytes >= r.pools[1]->in_use_bytes);
}

TEST_CASE("a report survives the wire, and invalid bytes are refused", "[report]") {
  auto const rt = start();
  rt->launch<basics::echo>("e");
  auto const sent = reporter{*rt, {.name = "shop", .incarnation = 7}}.gather();
  auto bytes = rondo::service::encode(sent);
  auto const got = rondo::service::decode(bytes);
  CHECK(rondo::service::to_json(got) == rondo::service::to_json(sent));
  CHECK(got.service == "shop");
  CHECK(actor_of(got, "e").behaviour == "rondo::basics::echo");
  bytes.resize(bytes.size() / 2);
  CHECK_THROWS_WITH(rondo::service::decode(bytes), Contains("no report"));
  CHECK_THROWS(rondo::service::decode({}));
}

TEST_CASE("a report as JSON uses the schema's names", "[report]") {
  auto const rt = start();
  rt->launch<basics::echo>("e");
  auto const text = rondo::service::to_json(reporter{*rt, {.name = "shop"}}.gather());
  CHECK_THAT(text, Contains("\"service\": \"shop\"") && Contains("\"behaviour\": \"rondo::basics::echo\"") &&
                       Contains("\"conserved\": true"));
}

TEST_CASE("control characters in a name are shown as question marks", "[report]") {
  CHECK(rondo::clean_text("plain Käfer 算") == "plain Käfer 算");
  CHECK(rondo::clean_text("a\x1b[2Jb\nc\x7f") == "a?[2Jb?c?");
  CHECK(rondo::clean_text("\xff\xc3") == "??");
  CHECK(rondo::clean_text("\xc0\xaf\xed\xa0\x80") == "?????");
  CHECK(rondo::clean_text("\xc2\x9b!") == "?!");
  CHECK(rondo::clean_text("\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf") == "\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf");
  // No character begins with these bytes, whatever their lower bits say.
  CHECK(rondo::clean_text("\xfc\x80\x80\x80") == "????");
  CHECK(rondo::clean_text("\xf8\x90\x80\x80") == "????");
  CHECK(rondo::clean_text("\xf4\x90\x80\x80") == "????");
  auto const rt = start();
  rt->launch<basics::echo>("bad\xc2\x9b\xfe");  // launch already refuses ASCII control characters
  auto const r = reporter{*rt, {}}.gather();
  CHECK(r.actors.at(0)->name == "bad??");
  CHECK_NOTHROW(rondo::service::to_json(r));
}

TEST_CASE("a name is what everything can show as it is: nothing that clean_text replaces", "[report]") {
  for (auto const* const name : {"plain Käfer 算", "a?b", "", "\xef\xbf\xbd"})
    CHECK(rondo::why_no_name(name) == "");
  for (auto const& [name, why] :
       {std::pair{std::string("a\x1b[2J"), "has the character U+001B; a name is UTF-8"},
        {"a\nb", "has the character U+000A"},
        {"\x7f", "has the character U+007F"},
        {"\xc2\x9b!", "has the character U+009B"},
        {"\xef\xbf\xbf", "has the character U+FFFF"},
        {std::string("a\0b", 3), "has the character U+0000"},
        {"?\xff", "has the byte 0xff, which is no UTF-8"},
        {"\xed\xa0\x80", "has the byte 0xed, which is no UTF-8"}}) {
    CHECK_THAT(rondo::why_no_name(name), Catch::Contains(why));
    CHECK(rondo::clean_text(name) != name);
  }
}
