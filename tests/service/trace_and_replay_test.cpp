// Traces and recordings of a service: reading one message's path, and replaying a recorded run.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <map>

#include "runtime/observe/chrome_trace.hpp"
#include "runtime/text/json_node.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/service/programs.hpp"
#include "tests/service/serve_process.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;
using Catch::Matchers::Contains;
using rondo::json_node;

namespace {

std::string value(json_node const& event, std::string_view name) {
  auto const* const found = event.find(name);
  return found != nullptr ? found->text : std::string();
}

/// The events of a Chrome trace, checked for the fields that a viewer needs.
std::vector<json_node> events_of(std::string const& text) {
  auto const root = rondo::parse_json_node(text, {.bytes = 16 << 20});
  auto const* const all = root.find("traceEvents");
  REQUIRE(all != nullptr);
  for (auto const& e : all->entries) {
    CAPTURE(rondo::json_text(e));
    auto const phase = value(e, "ph");
    CHECK(phase.size() == 1);
    CHECK(std::string("MXsfi").find(phase) != std::string::npos);
    CHECK_FALSE(value(e, "pid").empty());
    CHECK_FALSE(value(e, "name").empty());
    if (phase != "M") CHECK_FALSE(value(e, "ts").empty());
    if (phase == "X") CHECK_FALSE(value(e, "dur").empty());
    if (phase == "s" || phase == "f") CHECK_FALSE(value(e, "id").empty());
  }
  return all->entries;
}

struct bar {
  std::string name, pid, tid;
  double begin, end;
};

std::string command(std::string const& rest) { return std::string(RONDO_COMMAND) + " " + rest; }

}  // namespace

TEST_CASE("a message's path over three relays can be read in the file that --trace writes",
          "[service][trace]") {
  scratch_directory const dir("trace");
  auto const config =
      write_config(dir.directory, "demo", "", R"("actors": [{"name": "a", "behaviour": "relay"},
    {"name": "b", "behaviour": "relay"}, {"name": "c", "behaviour": "relay"}])");
  serve_process service(config);
  REQUIRE(service.wait_ready());
  auto const at = " --at " + socket_of(dir.directory, "demo").text();
  auto const link = [&](char const* from, char const* to) {
    auto const [status, text] = service_test::run(command("inspect " + std::string(to) + at));
    auto const id = text.substr(text.find('{'), text.find('}') - text.find('{') + 1);
    auto const told =
        service_test::run(command("tell " + std::string(from) + " link '{\"next\": " + id + "}'" + at));
    INFO(told.second);
    REQUIRE(told.first == 0);
  };
  link("a", "b");
  link("b", "c");
  auto const file = (dir.directory / "way.json").string();
  auto const asked = service_test::run(command("ask a hop '{\"number\": 7}' --trace " + file + at));
  INFO(asked.second);
  REQUIRE(asked.first == 0);

  std::vector<bar> bars;
  std::map<std::string, std::string> names;                       // of threads, by pid.tid
  std::map<std::string, std::pair<json_node, json_node>> arrows;  // by id
  for (auto const& e : events_of(service_test::text_of(file))) {
    auto const phase = value(e, "ph"), thread = value(e, "pid") + "." + value(e, "tid");
    if (value(e, "name") == "thread_name") names[thread] = value(*e.find("args"), "name");
    if (phase == "X")
      bars.push_back({value(e, "name"), value(e, "pid"), value(e, "tid"), std::stod(value(e, "ts")),
                      std::stod(value(e, "ts")) + std::stod(value(e, "dur"))});
    if (phase == "s") arrows[value(e, "id")].first = e;
    if (phase == "f") arrows[value(e, "id")].second = e;
  }
  auto const thread_of = [&](json_node const& e) { return names[value(e, "pid") + "." + value(e, "tid")]; };
  std::vector<std::string> way;
  for (auto const& [id, ends] : arrows) {
    way.push_back(thread_of(ends.first) + " -> " + thread_of(ends.second));
    CHECK(std::stod(value(ends.first, "ts")) <= std::stod(value(ends.second, "ts")));
    // Each end must lie in a bar of its line; otherwise a viewer does not draw the arrow.
    for (auto const* e : {&ends.first, &ends.second})
      CHECK(std::ranges::any_of(bars, [&](bar const& b) {
        auto const t = std::stod(value(*e, "ts"));
        return b.pid == value(*e, "pid") && b.tid == value(*e, "tid") && b.begin <= t && t <= b.end + 0.001;
      }));
  }
  std::ranges::sort(way);
  CHECK(way == std::vector<std::string>{"a -> b", "b -> a", "b -> c", "c -> b", "calls 1 -> a"});
  CHECK(bars.size() == 6);

  // The same for OpenTelemetry, by the file's name and by an option; tests/runtime/otlp_trace_test.cpp checks the
  // contents.
  auto const other = (dir.directory / "all.otlp.json").string();
  CHECK(service_test::run(command("trace --out " + other + at)).first == 0);
  auto const printed = service_test::run(command("trace --otlp" + at));
  for (auto const& text : {service_test::text_of(other), printed.second}) {
    auto const otlp = rondo::parse_json_node(text, {.bytes = 16 << 20});
    auto const& resource = otlp.find("resourceSpans")->entries[0];
    CHECK(value(*resource.find("resource")->find("attributes")->entries[0].find("value"), "stringValue") ==
          "demo");
    auto const& spans = resource.find("scopeSpans")->entries[0].find("spans")->entries;
    REQUIRE(spans.size() == 6);
    auto const trace = value(spans[0], "traceId");
    CHECK(service_test::run(command("trace " + trace + at)).first == 0);
    auto const begin = std::stoll(value(spans[0], "startTimeUnixNano")) / 1'000'000'000;
    CHECK(std::abs(begin - std::time(nullptr)) < 3600);
  }

  CHECK(service_test::run(command("trace 123" + at)).second.find("has no hop") != std::string::npos);
  CHECK(service_test::run(command("trace xyz" + at)).second.find("hexadecimal") != std::string::npos);
  CHECK(service_test::run(command("trace" + at)).first == 0);
  service.end(SIGTERM);
}

TEST_CASE("lists and traces with thousands of entries arrive completely", "[service][trace]") {
  rondo::service::service_config config;
  config.runtime.actors = 6000;
  config.runtime.trace_every = 1;
  served s(config);
  // The list needs two pages: one holds 256 KiB, about 3,000 actors.
  for (int i = 0; i < 5000; ++i) s.rt->launch<basics::counter>("counter " + std::to_string(i));
  auto const at = " --at " + s.it->listens_at().front().text();
  auto const listed = service_test::run(command("list" + at));
  CHECK(listed.first == 0);
  // A heading, and a line for each: the configuration has three more.
  CHECK(std::ranges::count(listed.second, '\n') == 1 + 3 + 5000);
  for (int i = 0; i < 5000; ++i)
    REQUIRE(listed.second.find("counter " + std::to_string(i) + " ") != std::string::npos);
  for (int i = 0; i < 3000; ++i)
    REQUIRE(s.rt->find<basics::counter>("clicks").value().ask(basics::get{}, 20s, rondo::block).has_value());
  auto const file = (s.folder.directory / "all.json").string();
  CHECK(service_test::run(command("trace --out " + file + at)).first == 0);
  auto const events = events_of(service_test::text_of(file));
  CHECK(std::ranges::count_if(events, [](json_node const& e) { return value(e, "ph") == "X"; }) >= 6000);
}

TEST_CASE("names appear unchanged in the trace, and unhandled messages with their reason", "[trace]") {
  rondo::trace_hop call{.trace = 1, .hop = 5, .on_host = true, .actor = {3, 1}, .actor_name = "a \"b\"\n"};
  call.ended_ns = 2000;
  rondo::trace_hop late{.trace = 1, .hop = 6, .parent = 5, .handled = false, .actor = {3, 1}, .type = 77};
  late.outcome = errc::timed_out;
  late.sent_ns = late.begun_ns = late.ended_ns = 5000;
  auto const events = events_of(rondo::chrome_trace({call, late}, {}));
  CHECK(std::ranges::any_of(events,
                            [](json_node const& e) { return value(e, "name") == "type 0x4d: timed_out"; }));
  CHECK(std::ranges::any_of(
      events, [](json_node const& e) { return value(e, "name").find("a \"b\"\n") != std::string::npos; }));
  CHECK(events_of(rondo::chrome_trace({}, {"cpu"})).empty());
}

TEST_CASE("the recording of a killed service is replayed to its counters", "[service][recording]") {
  scratch_directory const dir("replay");
  auto const file = (dir.directory / "run.rec").string();
  auto const config =
      write_config(dir.directory, "demo", "",
                   R"("actors": [{"name": "clicks", "behaviour": "counter"}], "recording": ")" + file + "\"");
  {
    serve_process service(config);
    REQUIRE(service.wait_ready());
    rondo::service::client c({.at = socket_of(dir.directory, "demo")});
    auto const clicks = c.find<basics::counter>("clicks").value();
    for (std::uint64_t i = 1; i <= 100; ++i)
      REQUIRE(clicks.ask(basics::add_and_get{i}, 20s, rondo::block).has_value());
    // A recording is flushed to the file twice a second.
    REQUIRE(rondo_test::eventually([&] {
      auto const so_far = service_test::run(command("replay " + file)).second;
      return so_far.find("replayed 100 messages at 1 actors") != so_far.npos;
    }));
    service.end(SIGKILL);
  }
  auto const after = (dir.directory / "after.ckpt").string();
  auto const [status, text] = service_test::run(command("replay " + file + " --checkpoint " + after));
  INFO(text);
  CHECK(status == 0);
  CHECK_THAT(text, Contains("replayed 100 messages at 1 actors: 0 with a different result"));
  CHECK_THAT(text, Contains("the recording is incomplete"));

  // The replayed states equal those of the run.
  auto const going_on = write_config(dir.directory, "next", "", R"("checkpoint": ")" + after + "\"");
  serve_process service(going_on);
  REQUIRE(service.wait_ready());
  rondo::service::client c({.at = socket_of(dir.directory, "next")});
  CHECK(c.find<basics::counter>("clicks").value().ask(basics::get{}, 20s, rondo::block).value().value ==
        5050);
  service.end(SIGTERM);

  auto const refused = service_test::run(command("replay " + after));
  CHECK_THAT(refused.second, Contains("is not a recording"));
  auto const taken = service_test::run(command("serve --config " + config.string()));
  CHECK_THAT(taken.second, Contains("move it away"));
}
