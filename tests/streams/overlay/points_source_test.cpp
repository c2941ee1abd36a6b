// Points, boxes and edges from a file of JSON lines: what is read, and what is refused, with the line and the field.
#include <fstream>

#include "actors/video/overlay/points_source.hpp"
#include "tests/streams/media_bed.hpp"

namespace points_source_test {

/// Keeps what comes.
struct list_keeper {
  using ports = streams::ports<streams::in<"points", video::points>, streams::in<"boxes", video::boxes>,
                               streams::in<"edges", video::edges>>;
  struct options {};
  static constexpr auto where = streams::works::on_host;

  void process(streams::stage_context<list_keeper>& ctx, streams::tick const&) {
    auto const p = ctx.input<"points">();
    auto const b = ctx.input<"boxes">();
    video::list_view<video::point> const points{p.about, p.data};
    video::list_view<video::box> const boxes{b.about, b.data};
    auto const e = ctx.input<"edges">();
    video::list_view<video::edge> const edges{e.about, e.data};
    ticks.push_back(
        {{points.begin(), points.end()}, {boxes.begin(), boxes.end()}, {edges.begin(), edges.end()}});
  }

  struct lists {
    std::vector<video::point> points;
    std::vector<video::box> boxes;
    std::vector<video::edge> edges;
  };
  inline static std::vector<lists> ticks;
};

RONDO_STAGES(stages, video::points_source, list_keeper)

using namespace media_test;

/// What a graph of the source has read, and why it ended; empty: at the file's end.
std::string read(std::string const& text, points_source::options o = {}, std::uint64_t ticks = 0) {
  rondo_test::scratch_directory const scratch("points");
  auto const path = scratch.directory / "points.jsonl";
  std::ofstream(path) << text;
  o.file = text_of<1024>(path.string());
  list_keeper::ticks.clear();
  runtime rt{use<stages>, {.device = "cpu"}};
  streams::graph g{rt, {.ticks = ticks}};
  auto const from = g.add<points_source>("from", o);
  auto const to = g.add<list_keeper>("to", {});
  g.connect(from.out<"points">(), to.in<"points">());
  g.connect(from.out<"boxes">(), to.in<"boxes">());
  g.connect(from.out<"edges">(), to.in<"edges">());
  g.start();
  if (!g.wait(60s)) return {};
  CHECK(g.failed_by() == streams::fault::input_malformed);
  return g.why_failed();
}

TEST_CASE("points and boxes come from JSON lines, one line a tick", "[overlay][points_source]") {
  std::string const text = R"({"points": [{"id": 7, "x": 1.5, "y": -2, "vx": 3, "vy": 4}, {"x": 9}]}
{"boxes": [{"id": 3, "x": 1, "y": 2, "width": 30, "height": 40.25}]}
{}
)";
  CHECK(read(text).empty());
  auto const& ticks = list_keeper::ticks;
  REQUIRE(ticks.size() == 3);
  REQUIRE(ticks[0].points.size() == 2);
  auto const& p = ticks[0].points[0];
  CHECK((p.id == 7 && p.x == 1.5F && p.y == -2 && p.vx == 3 && p.vy == 4));
  CHECK(ticks[0].points[1].x == 9);
  CHECK(ticks[0].boxes.empty());
  REQUIRE(ticks[1].boxes.size() == 1);
  auto const& b = ticks[1].boxes[0];
  CHECK((b.id == 3 && b.x == 1 && b.y == 2 && b.width == 30 && b.height == 40.25F));
  CHECK((ticks[2].points.empty() && ticks[2].boxes.empty()));
}

TEST_CASE("the edges of a line link its points by their ids", "[overlay][points_source]") {
  // Edges may come before the points that they name, a point may be on many of them, and one may lead back to its own.
  std::string const text =
      R"({"edges": [[7, 4294967295], [0, 7], [7, 7]], "points": [{"id": 7, "x": 1.5, "y": -2})"
      R"(, {"id": 4294967295, "x": 30, "y": 40.25}, {"x": 9}]}
{"points": [{"id": 7}, {"id": 8}, {"id": 8}]}
{"points": [{"id": 7, "x": 5}, {"id": 8}], "edges": [[8, 7]]}
)";
  CHECK(read(text).empty());
  auto const& ticks = list_keeper::ticks;
  REQUIRE(ticks.size() == 3);
  REQUIRE(ticks[0].edges.size() == 3);
  auto const& e = ticks[0].edges[0];
  CHECK((e.from == 7 && e.to == ~0u && e.x0 == 1.5F && e.y0 == -2 && e.x1 == 30 && e.y1 == 40.25F));
  auto const& second = ticks[0].edges[1];
  CHECK((second.from == 0 && second.to == 7 && second.x0 == 9 && second.y0 == 0 && second.x1 == 1.5F));
  auto const& own = ticks[0].edges[2];
  CHECK((own.from == 7 && own.to == 7 && own.x0 == own.x1 && own.y0 == own.y1));
  CHECK(ticks[1].edges.empty());  // two points may have one id where no edge names it
  REQUIRE(ticks[2].edges.size() == 1);
  CHECK((ticks[2].edges[0].from == 8 && ticks[2].edges[0].x1 == 5));
}

TEST_CASE("an edge that is wrong is named, with its line, and with what to do", "[overlay][points_source]") {
  auto const with_edge = [](std::string const& edge) {
    return read("{}\n{\"points\": [{\"id\": 1}, {\"id\": 2}, {}, {}], \"edges\": [[1, 2], " + edge + "]}\n");
  };
  CHECK_THAT(with_edge("[1, 3]"),
             Contains("points.jsonl: line 2: edges[1]: no point of this line has the id 3: add "
                      "the point, or leave the edge out"));
  CHECK_THAT(with_edge("[0, 1]"),
             Contains("line 2: edges[1]: 2 points of this line have the id 0: give each an id "
                      "of its own"));
  std::pair<char const*, char const*> const wrong[] = {{"[1]", "a list of 1"},
                                                       {"[1, 2, 1]", "a list of 3"},
                                                       {"[]", "a list of 0"},
                                                       {"[1, \"2\"]", "[1, a string]"},
                                                       {"[1.5, 2]", "[1.5, 2]"},
                                                       {"[-1, 2]", "[-1, 2]"},
                                                       {"[1, 4294967296]", "[1, 4294967296]"}};
  for (auto const& [edge, shown] : wrong)
    CHECK_THAT(with_edge(edge), Contains(std::string("line 2: edges[1]: is ") + shown +
                                         "; it must be the ids of two points, such as [1, 2]"));
  CHECK_THAT(with_edge("{\"from\": 1, \"to\": 2}"),
             Contains("edges[1]: is an object; it must be the ids of two"));
  CHECK_THAT(with_edge("7"), Contains("edges[1]: is 7; it must be the ids of two"));
  CHECK_THAT(read("{\"edges\": {}}"), Contains("line 1: edges: is an object; it must be a list"));
  CHECK_THAT(read("{\"points\": [{\"id\": 1}], \"edges\": [[1, 1], [1, 1], [1, 1]]}", {.most = 2}),
             Contains("has 3 items; `most` is 2"));
}

TEST_CASE("a file of points that is read again and again goes on", "[overlay][points_source]") {
  CHECK(read("{\"points\": [{\"id\": 1}]}\n{\"points\": [{\"id\": 2}]}", {.loop = true}, 5).empty());
  REQUIRE(list_keeper::ticks.size() == 5);
  for (std::uint32_t i = 0; i < 5; ++i) CHECK(list_keeper::ticks[i].points.at(0).id == i % 2 + 1);
  CHECK(read("", {.loop = true}).empty());  // nothing, however often
}

TEST_CASE("a line that is wrong is named, with its field", "[overlay][points_source]") {
  auto const after_one = [](std::string const& line) { return read("{}\n" + line + "\n{}\n"); };
  CHECK_THAT(after_one("[]"), Contains("points.jsonl: line 2: is a list; it must be an object"));
  CHECK_THAT(after_one("{\"points\": {}}"), Contains("line 2: points: is an object; it must be a list"));
  CHECK_THAT(after_one("{\"points\": [{}, {\"x\": \"left\"}]}"), Contains("line 2: points[1].x: "));
  CHECK_THAT(after_one("{\"points\": [{\"x\": 1e7}]}"), Contains("it must be a number from"));
  CHECK_THAT(after_one("{\"boxes\": [{\"id\": -1}]}"), Contains("line 2: boxes[0].id: "));
  CHECK_THAT(after_one("{\"boxes\": [{\"widht\": 1}]}"), Contains("width"));
  CHECK_THAT(after_one("{\"dots\": []}"), Contains("line 2: dots: unknown field"));
  CHECK_THAT(after_one("{\"points\": ["), Contains("line 2"));
  CHECK(list_keeper::ticks.size() == 1);
  CHECK_FALSE(after_one(std::string("{}\0{", 4)).empty());
  CHECK_THAT(after_one("{" + std::string(5 << 20, ' ') + "}"),
             Contains("line 2: has more than 4194304 bytes"));
  CHECK_THAT(read("{\"points\": [{}, {}, {}]}", {.most = 2}), Contains("has 3 items; `most` is 2"));
}

TEST_CASE("a file of points that is not there is an error of the start", "[overlay][points_source]") {
  runtime rt{use<stages>, {.device = "cpu"}};
  for (char const* const name : {"", "/nowhere/points.jsonl", "/tmp"}) {
    streams::graph g{rt, {}};
    auto const from = g.add<points_source>("from", {.file = text_of<1024>(name)});
    auto const to = g.add<list_keeper>("to", {});
    g.connect(from.out<"points">(), to.in<"points">());
    g.connect(from.out<"boxes">(), to.in<"boxes">());
    g.connect(from.out<"edges">(), to.in<"edges">());
    CHECK_THAT(error_of([&] { g.start(); }), Contains("from") && Contains(*name == 0 ? "no file" : name));
  }
}

}  // namespace points_source_test
