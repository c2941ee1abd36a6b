// A trace as OTLP/JSON: the fields that a collector needs, the names of the semantic conventions, and ids that form a
// tree.
#include "runtime/observe/otlp_trace.hpp"

#include <boost/json.hpp>
#include <chrono>
#include <map>
#include <set>

#include "runtime/os/clock.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/counter_fixture.hpp"
#include "tests/runtime/relay_fixture.hpp"

using namespace rondo_test;
namespace json = boost::json;

namespace {

std::string text_in(json::value const& from, std::string_view name) {
  return std::string(from.at(name).as_string());
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos &&
         text.find_first_not_of('0') != text.npos;
}

struct otlp_span {
  std::string trace, id, parent, name, error, status;
  std::int64_t kind = 0;
  std::uint64_t begin = 0, end = 0;
  std::map<std::string, std::string> attributes;
};

/// The spans of a file, checked against the format.
std::vector<otlp_span> spans_in(std::string const& text, std::string const& service) {
  auto const root = json::parse(text);
  auto const& resources = root.at("resourceSpans").as_array();
  REQUIRE(resources.size() == 1);
  auto const& named = resources[0].at("resource").at("attributes").at(0);
  CHECK(text_in(named, "key") == "service.name");
  CHECK(text_in(named.at("value"), "stringValue") == service);
  auto const& scopes = resources[0].at("scopeSpans").as_array();
  REQUIRE(scopes.size() == 1);
  CHECK(text_in(scopes[0].at("scope"), "name") == "rondo");
  std::vector<otlp_span> all;
  for (auto const& s : scopes[0].at("spans").as_array()) {
    CAPTURE(json::serialize(s));
    otlp_span one{.trace = text_in(s, "traceId"),
                  .id = text_in(s, "spanId"),
                  .parent = s.as_object().contains("parentSpanId") ? text_in(s, "parentSpanId") : "",
                  .name = text_in(s, "name"),
                  .error = {},
                  .status = {},
                  .kind = s.at("kind").as_int64(),
                  .begin = std::stoull(text_in(s, "startTimeUnixNano")),
                  .end = std::stoull(text_in(s, "endTimeUnixNano")),
                  .attributes = {}};
    CHECK(is_hex(one.trace, 32));
    CHECK(is_hex(one.id, 16));
    CHECK((one.parent.empty() || is_hex(one.parent, 16)));
    CHECK(one.begin <= one.end);
    for (auto const& a : s.at("attributes").as_array()) {
      auto const& value = a.at("value").as_object();
      auto const* const string = value.if_contains("stringValue");
      auto const* const number = value.if_contains("intValue");  // a string, as for each number of 64 bits
      REQUIRE((string != nullptr) != (number != nullptr));
      one.attributes[text_in(a, "key")] = std::string((string != nullptr ? string : number)->as_string());
    }
    if (auto const* const status = s.as_object().if_contains("status")) {
      CHECK(status->at("code").as_int64() == 2);
      one.status = text_in(*status, "message");
    }
    one.error = one.attributes["error.type"];
    CHECK(one.error.empty() == one.status.empty());
    all.push_back(std::move(one));
  }
  return all;
}

std::map<std::string, otlp_span> by_id(std::vector<otlp_span> const& spans) {
  std::map<std::string, otlp_span> found;
  for (auto const& s : spans) found[s.id] = s;
  CHECK(found.size() == spans.size());
  return found;
}

std::vector<std::string> device_names(rondo::runtime const& rt) {
  std::vector<std::string> names;
  for (std::uint32_t d = 0; d < rt.device_count(); ++d) names.push_back(rt.info(d).name);
  return names;
}

}  // namespace

TEST_CASE("the spans of an OTLP trace form the tree of the messages", "[trace][otlp]") {
  auto rt = start_relays({.device = "cpu,emulated", .teams = 2});
  auto const relays = launch_chain(*rt, 3);
  auto const trace = rt->traces().new_trace();
  REQUIRE(relays[0].ask(hop{5}, {.timeout = patience, .trace = trace}, rondo::block).has_value());
  REQUIRE(eventually([&] { return rt->traces().read(trace).size() == 6; }));
  auto const offset = rondo::unix_offset_ns();
  auto const spans = spans_in(rondo::otlp_trace(rt->traces().read(trace), device_names(*rt),
                                                {.service_name = "a \"b\"", .unix_offset_ns = offset}),
                              "a \"b\"");
  REQUIRE(spans.size() == 6);
  auto const all = by_id(spans);
  std::multiset<std::string> ways;
  for (auto const& s : spans) {
    CHECK(s.trace == spans.front().trace);
    CHECK(std::stoull(s.trace, nullptr, 16) == trace);
    CHECK(s.error.empty());
    std::string way = s.name;
    for (auto const* at = &s; !at->parent.empty(); way = at->name + " < " + way) {
      REQUIRE(all.contains(at->parent));
      CHECK(all.at(at->parent).begin <= at->begin);
      at = &all.at(at->parent);
    }
    ways.insert(way);
    bool const sends = s.parent.empty();
    auto const& a = s.attributes;
    CHECK(s.kind == (sends ? 4 : 5));  // PRODUCER, CONSUMER
    CHECK(a.at("messaging.system") == "rondo");
    CHECK(a.at("messaging.operation.name") == (sends ? "send" : "process"));
    CHECK(a.at("messaging.operation.type") == a.at("messaging.operation.name"));
    CHECK(s.name == a.at("messaging.operation.name") + " " + a.at("messaging.destination.name"));
    CHECK(a.at("messaging.message.body.size") == "8");
    CHECK(a.contains("messaging.rondo.message.waited_ns") == !sends);
    CHECK(a.at("messaging.rondo.destination.device") ==
          (a.at("messaging.destination.name") == "relay 1" ? "emulated" : "cpu"));
  }
  std::string const first = "send relay 0",
                    way_back = first + " < process relay 0 < process relay 1 < process relay 2";
  CHECK(ways == std::multiset<std::string>{first, first + " < process relay 0",
                                           first + " < process relay 0 < process relay 1", way_back,
                                           way_back + " < process relay 1",
                                           way_back + " < process relay 1 < process relay 0"});
}

TEST_CASE("attempts at one message are spans of their own, with the reason why they failed",
          "[trace][otlp]") {
  auto rt = start();
  auto const a = rt->launch<counter>("a");
  auto const trace = rt->traces().new_trace();
  REQUIRE_FALSE(a.try_tell(boom{}, {.trace = trace}));
  REQUIRE(eventually([&] { return rt->traces().read(trace).size() == 5; }));
  auto const spans = spans_in(rondo::otlp_trace(rt->traces().read(trace), {"cpu"}, {}), "rondo");
  auto const all = by_id(spans);
  std::multiset<std::string> errors;
  for (auto const& s : spans) {
    errors.insert(s.error);
    if (s.name == "process a") CHECK(all.at(s.parent).name == "send a");
  }
  CHECK(errors ==
        std::multiset<std::string>{"", "handler_failed", "handler_failed", "handler_failed", "quarantined"});
}

TEST_CASE("what an attempt has sent is below that attempt, and hops that are gone leave a parent",
          "[trace][otlp]") {
  using rondo::trace_hop;
  trace_hop const first{.trace = 1,
                        .hop = 7,
                        .parent = 3,
                        .actor = {3, 1},
                        .outcome = errc::handler_failed,
                        .begun_ns = 10,
                        .ended_ns = 20};
  trace_hop const second{.trace = 1, .hop = 7, .parent = 3, .attempt = 1, .begun_ns = 30, .ended_ns = 40};
  trace_hop const of_first{.trace = 1, .hop = 8, .parent = 7, .sent_ns = 15, .begun_ns = 50, .ended_ns = 60};
  trace_hop const of_second{.trace = 1, .hop = 9, .parent = 7, .sent_ns = 35, .begun_ns = 60, .ended_ns = 70};
  auto const spans = spans_in(
      rondo::otlp_trace({of_second, of_first, second, first}, {}, {.unix_offset_ns = 1000}), "rondo");
  REQUIRE(spans.size() == 4);
  CHECK(spans[0].parent == spans[2].id);
  CHECK(spans[1].parent == spans[3].id);
  CHECK(spans[2].parent == "0000000000000003");
  CHECK(spans[3].begin == 1010);
  CHECK(spans[3].end == 1020);
  CHECK(spans[3].attributes.at("messaging.rondo.destination.device") == "device 0");
  CHECK(spans_in(rondo::otlp_trace({}, {}, {}), "rondo").empty());
}

TEST_CASE("the offset of the clock gives the time of day", "[clock]") {
  using namespace std::chrono;
  auto const unix_now = [] { return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()); };
  auto const before = unix_now();
  auto const there = nanoseconds(static_cast<std::int64_t>(rondo::now_ns() + rondo::unix_offset_ns()));
  CHECK(there > before - 1h);  // the clock may be set in between
  CHECK(there < unix_now() + 1h);
}
