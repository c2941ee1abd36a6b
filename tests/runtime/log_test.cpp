// Log lines on the host: what is read from an event, who gets it, and what happens if nobody does.
// tests/conformance/log_test.cpp checks how they get there.
#include "runtime/observe/log.hpp"

#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "runtime/recording.hpp"
#include "runtime/replay.hpp"
#include "tests/caught_stderr.hpp"
#include "tests/runtime/counter_fixture.hpp"
#include "tests/scratch_directory.hpp"

using namespace rondo_test;
using Catch::Matchers::Contains;

namespace log_test {

struct write_down {
  std::uint32_t number;
};
struct scribe {
  using messages = rondo::messages<write_down, rondo::ask<get, total>>;
  std::uint64_t sum = 0;
  RONDO_HD void on(rondo::context& ctx, write_down const& m) {
    sum += m.number;
    ctx.log(rondo::log_level::info, "wrote {}", m.number);
  }
  RONDO_HD total on(rondo::context&, get const&) { return {sum}; }
};
RONDO_MODULE(scribes, scribe)

rondo::config const scribes_settings{.device = "cpu", .teams = 1, .guest_teams = 1};

rondo::device_event event_of(rondo::log_bits about, std::string const& payload) {
  rondo::device_event e{.kind = rondo::event_kind::logged, .actor = {3, 1}, .detail = rondo::now_ns()};
  std::memcpy(&e.behaviour, &about, sizeof about);
  e.body.bytes = static_cast<std::uint32_t>(payload.size());
  std::memcpy(e.body.payload, payload.data(), std::min(payload.size(), sizeof e.body.payload));
  return e;
}

}  // namespace log_test
using namespace log_test;

TEST_CASE("a damaged log event is read within its bounds", "[log]") {
  std::string const full(96, '{');
  auto e = event_of({static_cast<rondo::log_level>(99), 255, 0xffff}, full);
  e.body.bytes = ~0u;
  auto const line = rondo::read_log_event(e);
  CHECK(line.level == rondo::log_level::error);
  CHECK_THAT(line.text, Contains(full.substr(32)) && Contains(" 8897841259083430779"));
  CHECK(rondo::read_log_event(event_of({rondo::log_level::info, 4, 0}, "1234567")).text == "1234567");
  CHECK(rondo::read_log_event(event_of({rondo::log_level::info, 0, 0}, "")).text.empty());
  CHECK(rondo::read_log_event(event_of({rondo::log_level::info, 0, 0}, "a\x1b[1m\tb")).text == "a [1m b");
}

TEST_CASE("a line without a subscriber goes to stderr", "[log]") {
  scratch_directory const dir("log");
  caught_stderr const caught(dir.directory / "stderr");
  {
    rondo::runtime rt{rondo::use<scribes>, scribes_settings};
    auto const s = rt.launch<scribe>("s");
    REQUIRE_FALSE(s.try_tell(write_down{7}));
    auto const nameless = rt.launch<scribe>("");
    REQUIRE_FALSE(nameless.try_tell(write_down{8}));
    for (auto const& each : {s, nameless}) REQUIRE(each.ask(get{}, patience, rondo::block));
  }
  auto const behaviour = std::string(rondo::type_name<scribe>);
  CHECK_THAT(caught.text(), Contains("rondo: [info] " + behaviour + " 's': wrote 7\n") &&
                                Contains("rondo: [info] " + behaviour + " #1: wrote 8\n"));
}

TEST_CASE("a subscriber of log lines that throws is reported, and the others are called", "[log]") {
  rondo::runtime rt{rondo::use<scribes>, scribes_settings};
  std::atomic<int> lines{0}, reports{0};
  auto const on_report = rt.on_failure_report([&](std::string const& text) {
    if (text == "a subscriber of log lines threw an exception: over a line") ++reports;
  });
  auto const bad = rt.on_log([](rondo::log_line const&) { throw std::runtime_error("over a line"); });
  auto const good = rt.on_log([&](rondo::log_line const& line) { lines += line.text == "wrote 5"; });
  REQUIRE_FALSE(rt.launch<scribe>("s").try_tell(write_down{5}));
  CHECK(eventually([&] { return lines == 1 && reports == 1; }));
}

TEST_CASE("lines that nobody has taken in time are dropped and counted", "[log]") {
  boost::asio::io_context context;
  rondo::log_hub hub(context.get_executor(), [](char const*) {});
  std::vector<rondo::log_line> got;
  auto const subscription = hub.subscribe([&](rondo::log_line const& line) { got.push_back(line); });
  auto const take = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      rondo::log_line line;
      line.text = std::to_string(i);
      hub.take(line);
    }
  };
  take(rondo::log_hub::most_waiting + 10);
  context.run();
  REQUIRE(got.size() == rondo::log_hub::most_waiting);
  CHECK(got.back().text == std::to_string(rondo::log_hub::most_waiting - 1));
  take(2);
  context.restart();
  context.run();
  REQUIRE(got.size() == rondo::log_hub::most_waiting + 2);
  CHECK(got[rondo::log_hub::most_waiting].dropped == 10);
  CHECK(got.back().dropped == 0);
}

TEST_CASE("a replay logs nothing", "[log][recording]") {
  scratch_directory const dir("log-replay");
  auto const file = dir.directory / "run.rondo";
  {
    rondo::runtime rt{rondo::use<scribes>, scribes_settings};
    std::atomic<int> lines{0};
    auto const subscription = rt.on_log([&](rondo::log_line const&) { ++lines; });
    rondo::recording tape(rt, file);
    auto const s = rt.launch<scribe>("s");
    for (std::uint32_t i = 0; i < 5; ++i) REQUIRE_FALSE(s.try_tell(write_down{i}));
    CHECK(eventually([&] { return lines == 5; }));
    REQUIRE(s.ask(get{}, patience, rondo::block).value().value == 10);
    tape.end();
  }
  rondo::runtime rt{rondo::use<scribes>, scribes_settings};
  std::atomic<int> lines{0};
  auto const subscription = rt.on_log([&](rondo::log_line const&) { ++lines; });
  auto const report = rondo::replay(rt, file);
  CHECK(report.differing == 0);
  CHECK(report.messages == 6);
  auto const s = rt.find<scribe>("s").value();
  CHECK(s.ask(get{}, patience, rondo::block).value().value == 10);
  REQUIRE_FALSE(s.try_tell(write_down{1}));
  CHECK(eventually([&] { return lines == 1; }));  // it logs again
}
