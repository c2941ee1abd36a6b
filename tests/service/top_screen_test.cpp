// The screen of `rondo top` as text. The expected screens are in tests/service/screens. After a change of the layout,
// run this once with RONDO_WRITE_SCREENS=1 and review the changes.
#include "tools/top/top_screen.hpp"

#include "tests/service/basics_fixture.hpp"
#include "tests/service/programs.hpp"
#include "tests/service/report_samples.hpp"

using namespace rondo::tools;
using Catch::Matchers::Contains;
using service_test::sample_actor;
using service_test::sample_report;
using service_test::with_graph;

namespace {

/// A minute of the sample service: a rate that rises and falls, and an actor that becomes slower.
top_model a_minute() {
  top_model model;
  auto r = sample_report();
  for (int i = 0; i < 60; ++i) {
    auto const wave = static_cast<std::uint64_t>(1000 + 50 * (i % 20));
    r.clock_ns += 1'000'000'000;
    r.actors[0]->handled += wave;
    r.actors[1]->handled += 90;
    r.live->handled += wave + 90;
    r.live->accepted += wave + 90;
    r.connections->requests += 700;
    r.connections->bytes_in += 50'000;
    r.actors[0]->latency_counts[static_cast<std::size_t>(10 + i % 6)] += 900;
    r.actors[1]->latency_counts[static_cast<std::size_t>(10 + i / 4)] += 90;
    model.add(r);
  }
  return model;
}

/// The same minute of a service with a graph, whose stages process 60 ticks a second.
top_model a_minute_of_a_graph() {
  top_model model;
  auto r = with_graph(sample_report());
  for (int i = 0; i < 60; ++i) {
    r.clock_ns += 1'000'000'000;
    auto& g = *r.graphs[0];
    for (auto& s : g.stages) {
      if (s->counted_ns == 0) continue;
      s->counted_ns = r.clock_ns;
      s->processed += 60;
    }
    g.stages[0]->busy_ns += 110'000'000;
    g.stages[1]->busy_ns += 2'900'000'000;
    g.stages[2]->busy_ns += 1'200'000;
    g.stages[3]->busy_ns += 900'000;
    g.stages[2]->dropped += i > 50;
    g.transfers[0]->copies += 60;
    g.transfers[0]->copy_ns += 5'000'000;
    model.add(r);
  }
  return model;
}

void check_screen(char const* name, text_grid const& screen) {
  auto const file = std::string(RONDO_SOURCE_DIR "/tests/service/screens/") + name;
  auto const text = to_text(screen);
  if (std::getenv("RONDO_WRITE_SCREENS") != nullptr) std::ofstream(file) << text;
  INFO("differs from " << file << ":\n" << text);
  CHECK((text == service_test::text_of(file)));
}

std::string line_with(std::string const& text, std::string const& what) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.find(what) != std::string::npos) return line;
  return {};
}

}  // namespace

TEST_CASE("the screen of 80x24 shows actors, machine and totals", "[top]") {
  check_screen("all_80x24.txt",
               draw_top(a_minute(), {}, {.width = 80, .height = 24}, {.source = "tcp://shop:7400"}));
}

TEST_CASE("a screen of 160x50 has room for the history", "[top]") {
  check_screen("all_160x50.txt",
               draw_top(a_minute(), {}, {.width = 160, .height = 50}, {.source = "tcp://shop:7400"}));
}

TEST_CASE("a single actor shows its failure, its message and its mailbox", "[top]") {
  auto const model = a_minute();
  top_state state;
  state.press(key_down, model, 10);
  state.press(key_enter, model, 10);
  top_news news{.source = "tcp://shop:7400"};
  news.depths = {{255, 2}, {128, 5}};
  check_screen("actor_80x30.txt", draw_top(model, state, {.width = 80, .height = 30}, news));
}

TEST_CASE("Tab shows stages with their places, rates and drops", "[top]") {
  auto const model = a_minute_of_a_graph();
  top_state state;
  state.press(U'\t', model, 10);
  CHECK(state.graphs);
  check_screen("graphs_80x24.txt",
               draw_top(model, state, {.width = 80, .height = 24}, {.source = "tcp://shop:7400"}));
  check_screen("graphs_190x50.txt",
               draw_top(model, state, {.width = 190, .height = 50}, {.source = "tcp://shop:7400"}));
}

TEST_CASE("printed once, the stages follow the actors", "[top]") {
  auto const model = a_minute_of_a_graph();
  check_screen("once_110.txt",
               draw_top(model, {}, {.width = 110, .height = height_for_all(model), .interactive = false},
                        {.source = "tcp://shop:7400"}));
}

TEST_CASE("a failed graph says why, a stage that hangs for how long", "[top]") {
  auto r = with_graph(sample_report());
  r.graphs[0]->state = "failed";
  r.graphs[0]->why_failed = "'studio/blur-2' was stopped: the handler reported an error";
  r.graphs[0]->stages[3]->ended = 1;
  r.actors.push_back(sample_actor("studio/camera", 2));
  r.actors[2]->running = std::make_unique<rondo::reports::runT>();
  r.actors[2]->running->for_ns = 7'000'000'000;
  top_model model;
  model.add(std::move(r));
  top_state state;
  state.press(U'\t', model, 10);
  auto const text = to_text(draw_top(model, state, {}, {}));
  CHECK_THAT(text, Contains("studio/blur-2' was stopped: the handler reported an error"));
  CHECK_THAT(line_with(text, "studio ─"), Contains(" failed "));
  CHECK_THAT(line_with(text, " camera "), Contains("7.0s"));
  CHECK_THAT(line_with(text, " screen "), Contains("ended"));
  CHECK_THAT(line_with(text, " blur x3 "), Contains("gone"));
}

TEST_CASE("on every size each cell is inside, and without Unicode everything is ASCII", "[top]") {
  bool const graphs = GENERATE(false, true);
  auto const model = graphs ? a_minute_of_a_graph() : a_minute();
  bool const details = GENERATE(false, true);
  bool const help = GENERATE(false, true);
  for (int width = 80; width <= 210; width += 7)
    for (int height = 24; height <= 70; height += 5) {
      top_state state;
      if (graphs) state.press(U'\t', model, 10);
      if (details) state.press(key_enter, model, 10);
      state.help = help;
      auto const grid =
          draw_top(model, state, {.width = width, .height = height, .ascii = true, .colours = false}, {});
      REQUIRE(grid.width() == width);
      REQUIRE(grid.height() == height);
      bool ascii = true;
      for (int r = 0; r < height; ++r)
        for (int c = 0; c < width; ++c) ascii &= grid.at(r, c).glyph >= U' ' && grid.at(r, c).glyph < U'\x7f';
      REQUIRE(ascii);
    }
}

TEST_CASE("a screen that is too small is cut, and nothing worse happens", "[top]") {
  auto const model = a_minute_of_a_graph();
  for (int width : {0, 1, 20, 40, 79})
    for (int height : {0, 1, 5, 12, 23}) {
      top_state state;
      CHECK_NOTHROW(draw_top(model, state, {.width = width, .height = height}, {}));
      state.details = true;
      CHECK_NOTHROW(draw_top(model, state, {.width = width, .height = height}, {}));
      state.details = false;
      state.graphs = true;
      CHECK_NOTHROW(draw_top(model, state, {.width = width, .height = height}, {}));
    }
}

TEST_CASE("a name in wide characters takes the columns that it needs", "[top]") {
  text_grid grid(6, 1);
  grid.put(0, 0, "算a");
  CHECK(grid.at(0, 0).glyph == U'算');
  CHECK(grid.at(0, 1).glyph == 0);
  CHECK(grid.at(0, 2).glyph == U'a');
  text_grid narrow(3, 1);
  narrow.put(0, 0, "ab算");  // half of it would not be a character
  CHECK(to_text(narrow) == "ab\n");
  CHECK(width_of("算a") == 3);
  CHECK(to_text(text_grid(2, 1)) == "\n");
}

TEST_CASE("invalid UTF-8 and control characters are shown as question marks", "[top]") {
  text_grid grid(12, 1);
  grid.put(0, 0, "\xc1\x81\xed\xa0\x80\xf8\x90\x80\x80\xc2\x9b.");
  CHECK(to_text(grid) == "??????????.\n");
}

TEST_CASE("a lost message is clearly reported", "[top]") {
  auto r = sample_report();
  r.conserved = false;
  top_model model;
  model.add(r);
  CHECK_THAT(to_text(draw_top(model, {}, {}, {})), Contains("in flight"));
  r.clock_ns += 1'000'000'000;
  for (auto& t : r.devices[0]->teams) t->busy = false;
  model.add(r);
  CHECK_THAT(to_text(draw_top(model, {}, {}, {})), Contains("NOT CONSERVED"));
}

TEST_CASE("a service that does not answer is reported with the reason, and the last numbers stay", "[top]") {
  CHECK_THAT(to_text(draw_top({}, {}, {}, {.source = "tcp://shop:7400", .trouble = "connection refused"})),
             Contains("tcp://shop:7400") && Contains("connection refused"));
  auto const text = to_text(draw_top(a_minute(), {}, {}, {.trouble = "connection refused"}));
  CHECK_THAT(text, Contains("no answer") && Contains("connection refused") && Contains("clicks"));
}

TEST_CASE("an actor that hangs shows its message and time, a full mailbox its size", "[top]") {
  auto r = sample_report();
  r.actors[0]->waiting = 1024;
  top_model model;
  model.add(r);
  auto const text = to_text(draw_top(model, {}, {.width = 110, .height = 24}, {}));
  CHECK_THAT(line_with(text, "prices"), Contains("2.5s refresh"));
  CHECK_THAT(line_with(text, "clicks"), Contains("1024 ━━━━━━━━"));
}

TEST_CASE("numbers fit their columns", "[top]") {
  CHECK(count_text(7) == "7");
  CHECK(count_text(7.25) == "7.2");
  CHECK(count_text(9999) == "9999");
  CHECK(count_text(12'345) == "12.3k");
  CHECK(count_text(4'560'000) == "4.56M");
  for (double n = 1; n < 1e17; n *= 1.37) CHECK(width_of(count_text(n)) <= 5);
  auto const& g = unicode_glyphs();
  CHECK(time_text(0, g) == "–");
  CHECK(time_text(640, g) == "640ns");
  CHECK(time_text(4100, g) == "4.1µs");
  CHECK(time_text(88e6, g) == "88ms");
  CHECK(time_text(200e9, g) == "3m20s");
  CHECK(time_text(93'784e9, g) == "1d02h");
  for (double n = 1; n < 1e18; n *= 1.37) CHECK(width_of(time_text(n, g)) <= 6);
  CHECK(bytes_text(512) == "512B");
  CHECK(bytes_text(1536) == "1.5K");
  for (double n = 1; n < 1e17; n *= 1.37) CHECK(width_of(bytes_text(n)) <= 5);
}
