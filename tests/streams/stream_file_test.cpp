// Files that describe graphs: what is read, and what is refused.
#include <boost/property_tree/xml_parser.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "actors/video/video_module.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/streams/file/stream_file.hpp"
#include "runtime/streams/plan/graph_plan.hpp"
#include "runtime/streams/plan/graph_svg.hpp"
#include "runtime/text/config_error.hpp"
#include "tests/catch.hpp"
#include "tests/streams/stages.hpp"

using namespace rondo;

RONDO_EMULATED_MODULE(video::video_stages)

namespace {

/// A graph that runs; the tests change one word of it.
constexpr char const* good = R"({
  "name": "clip", "ticks": 50, "window": 2,
  "stages": [
    {"name": "pattern", "stage": "test_pattern", "options": {"width": 64, "height": 48}},
    {"name": "soft", "stage": "rondo::video::blur", "options": {"sigma": 1.5}, "replicas": 2},
    {"name": "mix", "stage": "compositor"},
    {"name": "screen", "stage": "null_sink"}
  ],
  "connections": [
    {"from": "pattern", "to": "soft"},
    {"from": "soft.video", "to": "mix"},
    {"from": "pattern", "to": "mix.layer2", "delivery": "every", "capacity": 8},
    {"from": "mix", "to": "screen", "delivery": "lossless"}
  ]
})";

std::string with(std::string_view old, std::string_view now) {
  std::string text = good;
  auto const at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), now);
}

streams::stage_catalog const& catalog() {
  static auto const all = streams::stage_catalog::of<video::video_stages>();
  return all;
}
streams::stream_file parse(std::string const& text) {
  return streams::parse_stream_file(text, "x.json", catalog());
}
std::string refusal_of(std::string const& text) {
  try {
    parse(text);
  } catch (config_error const& e) {
    return e.what();
  }
  return "nothing was refused";
}

enum class taste : std::uint32_t { sweet, sour };
struct all_kinds {
  struct options {
    bool flag = true;
    std::uint8_t small = 7;
    std::int32_t whole = -3;
    std::uint64_t large = 1;
    double real = 0.5;
    streams::option_text<8> text = "a\"b";
    taste is = taste::sour;
    void describe(auto& option) {
      option("flag", flag, "f");
      option("small", small, "s");
      option("whole", whole, "w", -10, 10);
      option("large", large, "l");
      option("real", real, "r", 0, 1);
      option("text", text, "t");
      option.choice("is", is, "i", {"sweet", "sour"});
    }
  };
};

}  // namespace

TEST_CASE("a file describes a graph, which then runs", "[streams][file]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  auto const file = parse(good);
  REQUIRE(file.graph.name == "clip");
  REQUIRE(file.graph.ticks == 50);
  REQUIRE(file.stages.at(1).how.replicas == 2);
  REQUIRE(file.connections.at(2).input == 2);
  REQUIRE(file.connections.at(2).how.capacity == 8);
  REQUIRE(file.connections.at(2).how.how == streams::delivery::every);
  runtime rt{use<video::video_stages>, {.device = device}};
  streams::graph g{rt, streams::options_of_copy(file, 0, rt)};
  streams::add_stages(g, file, 0, rt);
  g.start();
  REQUIRE(!g.wait());
  REQUIRE(g.counts_of(3).processed == 50);
}

TEST_CASE("what is wrong in a file is refused with its path, and the nearest name", "[streams][file]") {
  struct wrong {
    char const *old, *now, *says;
  };
  for (auto const& w : {
           wrong{"\"ticks\"", "\"tics\"", "x.json: tics: unknown field; expected one of backend"},
           wrong{"\"ticks\"", "\"tics\"", "did you mean 'ticks'?"},
           wrong{"50", "-1", "x.json: ticks: is -1; it must be a whole number from 0"},
           wrong{"\"compositor\"", "\"compositer\"",
                 "x.json: stages[2].stage: there are no stages of the type 'compositer'"},
           wrong{"\"compositor\"", "\"compositer\"", "did you mean 'compositor'?"},
           wrong{"\"sigma\"", "\"sgima\"",
                 "stages[1].options.sgima: unknown option; 'blur' has sigma; did you mean"},
           wrong{"1.5", "15", "x.json: stages[1].options.sigma: is 15; it must be a number from 0.1 to 4"},
           wrong{"64", "64.5",
                 "stages[0].options.width: is 64.5; it must be a whole number from 16 to 16384"},
           wrong{"64", "\"64\"", "stages[0].options.width: is '64'; it must be a whole number"},
           wrong{"\"mix.layer2\"", "\"mix.layer9\"",
                 "connections[2].to: 'mix' has no input 'layer9'; it has video"},
           wrong{"\"mix.layer2\"", "\"mx.layer2\"",
                 "connections[2].to: there is no stage 'mx'; there are pattern"},
           wrong{"\"to\": \"soft\"", "\"too\": \"soft\"", "connections[0].too: unknown field"},
           wrong{"\"from\": \"mix\"", "\"from\": \"screen\"",
                 "connections[3].from: name the output of 'screen': none"},
           wrong{"\"every\"", "\"evry\"",
                 "connections[2].delivery: is 'evry'; it must be one of lossless, every, latest; did"},
           wrong{"\"mix\", \"stage\"", "\"soft\", \"stage\"",
                 "stages[2].name: there is a stage 'soft' already"},
           wrong{"\"mix\", \"stage\"", "\"a.b\", \"stage\"",
                 "stages[2].name: is missing, or has a dot in it"},
           wrong{"\"name\": \"clip\"", "\"runtime\": {\"team\": 2}", "x.json: runtime: team: unknown field"},
           wrong{"\"name\": \"clip\"", "\"backend\": \"gpu\"",
                 "x.json: backend: is 'gpu'; it must be one of auto, cpu"},
           wrong{"\"name\": \"clip\"", "\"rate\": 1e9", "x.json: rate: is 1e9; it must be a number from 0"},
           wrong{good, "{}", "x.json: stages: is missing or empty"},
           wrong{good, "[]", "x.json: is a list; it must be an object"},
           wrong{good, "{\n oops}", "x.json: line 2"},
       }) {
    INFO(w.says);
    REQUIRE_THAT(refusal_of(with(w.old, w.now)), Catch::Contains(w.says));
  }
}

TEST_CASE("options are set as a command line gives them", "[streams][file]") {
  auto file = parse(good);
  streams::set_option(file, "soft.sigma=2.5", "--set");
  REQUIRE(reinterpret_cast<video::blur::options const*>(file.stages[1].options.data())->sigma == 2.5F);
  auto const refused = [&](char const* text, char const* says) {
    INFO(text);
    REQUIRE_THROWS_WITH(streams::set_option(file, text, "--set"), Catch::Contains(says));
  };
  refused("soft.sigma=a", "--set: soft: sigma: is 'a'; it must be a number");
  refused("soft.sigm=1", "did you mean 'sigma'?");
  refused("sft.sigma=1", "did you mean 'soft'?");
  refused("sigma=1", "must be STAGE.OPTION=VALUE");
}

TEST_CASE("options are described, read and printed alike", "[streams][file]") {
  streams::stage_kind kind;
  kind.name = "all_kinds";
  kind.option_bytes = sizeof(all_kinds::options);
  kind.describe = [](void* o, streams::option_visitor& v) {
    static_cast<all_kinds::options*>(o)->describe(v);
  };
  all_kinds::options o;
  std::string text;
  for (auto const& f : streams::options_in(kind, &o)) text += std::string(f.name) + "=" + f.value() + ";";
  REQUIRE(text == "flag=true;small=7;whole=-3;large=1;real=0.5;text=\"a\\\"b\";is=\"sour\";");
  for (auto const* const set :
       {"flag=false", "small=255", "whole=-10", "real=1", "text=seven77", "is=sweet"}) {
    std::string_view const assignment = set;
    auto const equals = assignment.find('=');
    streams::set_option(kind, assignment.substr(0, equals), assignment.substr(equals + 1), "x", &o);
  }
  REQUIRE(!o.flag);
  REQUIRE(o.small == 255);
  REQUIRE(o.whole == -10);
  REQUIRE(o.real == 1);
  REQUIRE(o.text == streams::option_text<8>("seven77"));
  REQUIRE(o.is == taste::sweet);
  for (auto const& [name, value, says] : {std::tuple{"flag", "1", "true or false"},
                                          {"small", "256", "from 0 to 255"},
                                          {"whole", "-11", "from -10 to 10"},
                                          {"real", "nan", "from 0 to 1"},
                                          {"text", "12345678", "a text of at most 7 bytes"},
                                          {"is", "swet", "one of sweet, sour; did you mean 'sweet'?"}}) {
    INFO(name);
    REQUIRE_THROWS_WITH(streams::set_option(kind, name, value, "x", &o), Catch::Contains(says));
  }
}

TEST_CASE("a file may describe several graphs", "[streams][file]") {
  auto file = parse(with("\"name\": \"clip\"", "\"name\": \"camera {n}\", \"repeat\": 3"));
  runtime rt{use<video::video_stages>, {.device = "cpu,emulated"}};
  REQUIRE(streams::options_of_copy(file, 2, rt).name == "camera 3");
  file.graph.name = "clip";
  auto const second = streams::options_of_copy(file, 1, rt);
  REQUIRE(second.name == "clip-2");
  REQUIRE(second.devices == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("the page of streams lists the fields of stream files that are read", "[streams][file]") {
  // Rows such as: | stage | `device` | ...
  auto const listed = [](std::string const& of) {
    std::ifstream page(RONDO_STREAMS_PAGE);
    std::set<std::string> names;
    for (std::string line, begin = "| " + of + " | `"; std::getline(page, line);)
      if (line.starts_with(begin))
        names.insert(line.substr(begin.size(), line.find('`', begin.size()) - begin.size()));
    return names;
  };
  auto const known = [](std::string const& text) {
    constexpr std::string_view before = "expected one of ";
    auto const at = text.find(before);
    REQUIRE(at != std::string::npos);
    std::istringstream words(text.substr(at + before.size(), text.find(';', at) - at - before.size()));
    std::set<std::string> names;
    for (std::string w; words >> w;) names.insert(w.substr(0, w.find(',')));
    return names;
  };
  REQUIRE(known(refusal_of(with("\"ticks\"", "\"xyzzyxyzzy\""))) == listed("graph"));
  REQUIRE(known(refusal_of(with("\"replicas\"", "\"xyzzyxyzzy\""))) == listed("stage"));
  REQUIRE(known(refusal_of(with("\"capacity\"", "\"xyzzyxyzzy\""))) == listed("connection"));
}

TEST_CASE("a graph is drawn as well-formed XML, whatever its stages are called", "[streams][file]") {
  runtime rt{use<video::video_stages>, {.device = "cpu,emulated"}};
  streams::graph g{rt, {.name = "<&\">"}};
  auto const pattern = g.add<video::test_pattern>("a<b", {.width = 64, .height = 48}, {.device = 0});
  auto const screen = g.add<video::null_sink>("&", {}, {.device = 1});
  g.connect(pattern.out<"video">(), screen.in<"video">());
  std::istringstream text(g.svg());
  boost::property_tree::ptree tree;
  REQUIRE_NOTHROW(boost::property_tree::read_xml(text, tree));
  REQUIRE(tree.get_child("svg").count("rect") == 3);
  REQUIRE_THAT(g.svg(), Catch::Contains("copied"));
}

TEST_CASE("names that a picture, JSON or a terminal cannot show are refused of programs, too", "[streams]") {
  runtime rt{use<video::video_stages>, {.device = "cpu"}};
  streams::graph g{rt};
  for (auto const& [name, why] : {std::pair{std::string("a\x1b[2J"), "'a?[2J'"},
                                  {"a\xff", "0xff"},
                                  {std::string("a\0b", 3), "U+0000"}}) {
    auto const error_of = [](auto const& work) -> std::string {
      try {
        work();
      } catch (std::invalid_argument const& e) {
        return e.what();
      }
      return {};
    };
    CHECK_THAT(error_of([&] { streams::graph{rt, {.name = name}}; }), Catch::Contains(why));
    CHECK_THAT(error_of([&] { g.add<video::null_sink>(name); }), Catch::Contains(why));
  }
}

TEST_CASE("whatever text a graph's picture has, it is XML", "[streams]") {
  streams::graph_plan const nothing({}, streams::backend::automatic, {});
  auto const svg = streams::graph_svg(nothing, "a\x1b\xff\xef\xbf\xbf<&\"b");
  CHECK_THAT(svg, Catch::Contains(">a???&lt;&amp;&quot;b</text>"));
  std::istringstream text(svg);
  boost::property_tree::ptree tree;
  boost::property_tree::read_xml(text, tree);
  CHECK(tree.count("svg") == 1);
}
