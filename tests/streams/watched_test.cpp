// What operators see of a graph in another process: `rondo top`, the metrics, and the warnings of slow ticks.
#include <sys/wait.h>

#include <cstdio>
#include <regex>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/service/http_client.hpp"
#include "tests/service/terminal.hpp"

using namespace service_test;
using Catch::Matchers::Contains;

namespace {

/// tests/streams/watched_graph.cpp, as long as this lives.
class watched {
 public:
  watched() {
    auto const said = file("said");
    in_ = popen((WATCHED_GRAPH " " + file("socket") + " >" + said + " 2>" + file("warned")).c_str(), "w");
    REQUIRE(in_ != nullptr);
    REQUIRE(
        eventually([&] { return std::sscanf(text_of(said).c_str(), "ready on port %hu\n", &port) == 1; }));
  }
  ~watched() { end(); }
  watched(watched const&) = delete;
  watched& operator=(watched const&) = delete;

  std::string file(std::string const& name) const { return (scratch_.directory / name).string(); }
  std::string top(std::string const& options) const {
    return "LC_ALL=C.UTF-8 " RONDO_COMMAND " top " + options + " --at unix:" + file("socket");
  }
  /// Its exit status.
  int end() {
    int const status = in_ == nullptr ? 0 : pclose(in_);
    in_ = nullptr;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::uint16_t port = 0;

 private:
  rondo_test::scratch_directory scratch_{"watched"};
  std::FILE* in_ = nullptr;
};

std::string line_with(std::string const& text, std::string const& what) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.find(what) != std::string::npos) return line;
  return {};
}

/// Of a sample line.
double value_of(std::string const& text, std::string const& series) {
  auto const line = line_with(text, series);
  return line.empty() ? -1 : std::stod(line.substr(line.rfind(' ')));
}

std::string labels(std::string const& stage, std::string const& type) {
  return "{graph=\"show\",stage=\"" + stage + "\",type=\"stream_test::" + type + "\",device=\"0\"} ";
}

}  // namespace

TEST_CASE("rondo top --once shows the stages of a graph that runs in the service's process", "[watched]") {
  watched w;
  std::string screen;
  REQUIRE(eventually([&] {
    auto const [status, said] = run(w.top("--once --interval 200"));
    REQUIRE(status == 0);
    screen = said;
    auto const line = line_with(screen, " slow ");
    return line.find("active") != std::string::npos &&
           std::regex_search(line, std::regex("[0-9](ns|µs|ms|s) "));  // ticks have been timed
  }));
  INFO(screen);
  CHECK_THAT(line_with(screen, "show ─"), Contains(" running ") && Contains("100 ticks/s asked for"));
  CHECK_THAT(line_with(screen, " from "), Contains(" cpu "));
  CHECK_THAT(screen, Contains("TICKS/S") && Contains("LOST") && Contains("show/slow"));
  CHECK(w.end() == 0);
}

TEST_CASE("rondo top --json has the rates of stages, and the whole graph", "[watched]") {
  watched w;
  REQUIRE(eventually([&] {
    auto const [status, said] = run(w.top("--json --interval 200"));
    REQUIRE(status == 0);
    CHECK_THAT(said, Contains("\"stages\": [") && Contains("\"to\": \"to.numbers\"") &&
                         Contains("\"delivery\": \"latest\""));
    auto const line = line_with(said, "\"graph\": \"show\", \"name\": \"slow\"");
    auto const at = line.find("\"ticks_per_second\": ");
    return at != std::string::npos && std::stod(line.substr(at + 20)) > 0;
  }));
}

TEST_CASE("the metrics of a stage grow", "[watched]") {
  watched w;
  std::string text;
  REQUIRE(eventually([&] {
    text = get(w.port, "/metrics");
    return value_of(text, "rondo_stage_ticks_total" + labels("slow", "adder")) > 0;
  }));
  CHECK(value_of(text, "rondo_stage_busy_seconds_total" + labels("slow", "adder")) > 0);
  CHECK(value_of(text, "rondo_stage_failures_total" + labels("slow", "adder")) == 0);
  CHECK(value_of(text, "rondo_graph_state{graph=\"show\",state=\"running\"} ") == 1);
  auto const first = value_of(text, "rondo_stage_ticks_total" + labels("to", "checker"));
  CHECK(eventually([&] {
    return value_of(get(w.port, "/metrics"), "rondo_stage_ticks_total" + labels("to", "checker")) > first;
  }));
}

TEST_CASE("a slow tick is warned of on stderr with the graph, the stage and the time", "[watched]") {
  watched w;
  std::string line;
  REQUIRE(eventually([&] {
    line = line_with(text_of(w.file("warned")), "'show/slow': tick ");
    return line.find("longer than 1 us") != std::string::npos;
  }));
  CHECK_THAT(line, Contains("[warning]") && Contains(" took "));
}

TEST_CASE("Tab shows the stages on a terminal", "[watched][tmux]") {
  watched w;
  terminal t(w.top("--interval 100"), 80, 24);
  INFO(t.screen);
  REQUIRE(t.shows("Tab graphs"));
  t.press("Tab");
  REQUIRE(t.shows("TICKS/S"));
  CHECK(t.shows("● active"));
  CHECK_THAT(t.screen, Contains("show ─") && Contains(" slow ") && Contains("Tab actors"));
  t.press("Tab");
  REQUIRE(t.shows("MSG/S"));
  t.press("q");
  CHECK(t.shows("ended with 0"));
}
