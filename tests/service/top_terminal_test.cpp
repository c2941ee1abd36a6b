// `rondo top` on a real terminal, which tmux provides and reads back. Cases with [tmux] or [python] need that program.
#include <algorithm>

#include "tests/service/basics_fixture.hpp"
#include "tests/service/programs.hpp"
#include "tests/service/terminal.hpp"

using namespace service_test;
using Catch::Matchers::Contains;

TEST_CASE("the terminal shows actors, obeys keys and resizing, and is restored afterwards", "[top][tmux]") {
  bool const colours = GENERATE(true, false);
  terminal t(std::string(colours ? "" : "NO_COLOR=1 ") + TOP_DEMO " --still --interval 50", 80, 24);
  INFO(t.screen);
  REQUIRE(t.shows("archive"));
  CHECK_THAT(t.screen, Contains("rondo top") && Contains("730") && Contains("18 of 1024 actors"));
  auto const drawn = t.tmux("capture-pane -p -e");
  CHECK((drawn.find("38;5;") != std::string::npos) == colours);

  t.press("d");
  t.press("Enter");
  REQUIRE(t.shows("waiting, by priority"));
  CHECK(t.shows("584"));
  CHECK_THAT(t.screen, Contains("146") && Contains("730 of 1000"));
  t.press("Escape");
  REQUIRE(t.shows("PAST"));
  t.tmux("resize-window -x 150 -y 45");
  REQUIRE(t.shows("BEHAVIOUR"));
  t.press("/ s e s s i o n . 7 Enter");
  REQUIRE(t.shows("session.7 (1 found)"));
  CHECK_THAT(t.screen, !Contains("archive"));
  t.press("'?'");
  REQUIRE(t.shows("any key to close"));
  t.press("x s");
  REQUIRE(t.shows("saved as rondo-report-"));
  auto const file = std::filesystem::directory_iterator(t.directory());
  auto const saved = std::ranges::find_if(begin(file), end(file),
                                          [](auto const& e) { return e.path().extension() == ".json"; });
  REQUIRE(saved != end(file));
  CHECK_THAT(text_of(saved->path().string()), Contains("\"name\": \"archive\""));
  t.press("q");
  CHECK(t.shows("ended with 0"));
}

TEST_CASE("Ctrl-C restores the terminal", "[top][tmux]") {
  terminal t(TOP_DEMO " --still --interval 50", 80, 24);
  REQUIRE(t.shows("archive"));
  t.press("C-c");
  CHECK(t.shows("ended with 0"));
}

TEST_CASE("an unsuitable terminal is refused with an alternative", "[top][tmux]") {
  std::string const name = GENERATE("dumb-as-bread", "dumb");
  terminal t("TERM=" + name + " " TOP_DEMO " --still", 120, 24);
  CHECK(t.shows("ended with 1"));
  CHECK_THAT(t.screen, Contains("TERM=" + name) && Contains("--once"));
}

TEST_CASE("output that is not a terminal is refused with an alternative", "[top]") {
  auto const [status, said] = run(TOP_DEMO " --still </dev/null");
  CHECK(status != 0);
  CHECK_THAT(said, Contains("--once"));
}

TEST_CASE("a terminal of forty columns shows as much as fits", "[top][tmux]") {
  terminal t(TOP_DEMO " --still --interval 50", 40, 10);
  CHECK(t.shows("rondo top"));
  CHECK(t.shows(" live  up "));  // nothing overlaps
  CHECK(t.shows("archive"));
  t.press("q");
  CHECK(t.shows("ended with 0"));
}

TEST_CASE("one screen, or one report, can be written to a file", "[top]") {
  auto const text = run("LC_ALL=C.UTF-8 " TOP_DEMO " --still --once --interval 20");
  CHECK(text.first == 0);
  CHECK_THAT(text.second,
             Contains("session.7") && Contains("archive") && Contains("conserved") && !Contains("\x1b"));
  auto const plain = run("LC_ALL=C " TOP_DEMO " --still --once --interval 20").second;
  CHECK(std::ranges::all_of(plain, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  auto const json = run(TOP_DEMO " --still --once --json --interval 20").second;
  CHECK_THAT(json, Contains("\"handled_per_second\"") && Contains("\"report\": {"));
}

TEST_CASE("another program can read the report", "[top][python]") {
  auto const checked = run(TOP_DEMO " --still --once --json --interval 20 | " RONDO_PYTHON
                                    " -c 'import json,sys; d=json.load(sys.stdin); "
                                    "print(len(d[\"actors\"]), d[\"report\"][\"waiting\"])'");
  CHECK(checked.second == "18 730\n");
}
