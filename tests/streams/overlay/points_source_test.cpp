// Points and boxes from a file of JSON lines: what is read, and what is refused, with the line and the field.
#include <fstream>

#include "actors/video/overlay/points_source.hpp"
#include "tests/streams/media_bed.hpp"

namespace points_source_test {

/// Keeps what comes.
struct list_keeper {
  using ports = streams::ports<streams::in<"points", video::points>, streams::in<"boxes", video::boxes>>;
  struct options {};
  static constexpr auto where = streams::works::on_host;

  void process(streams::stage_context<list_keeper>& ctx, streams::tick const&) {
    auto const p = ctx.input<"points">();
    auto const b = ctx.input<"boxes">();
    video::list_view<video::point> const points{p.about, p.data};
    video::list_view<video::box> const boxes{b.about, b.data};
    ticks.push_back({{points.begin(), points.end()}, {boxes.begin(), boxes.end()}});
  }

  struct lists {
    std::vector<video::point> points;
    std::vector<video::box> boxes;
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
    CHECK_THAT(error_of([&] { g.start(); }), Contains("from") && Contains(*name == 0 ? "no file" : name));
  }
}

}  // namespace points_source_test
