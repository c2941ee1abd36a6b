// The stages that draw over pictures, as a graph: the same pictures on every device, without copies, with as many
// frames as come.
#include <algorithm>

#include "runtime/device/emulated/emulated_module.hpp"
#include "tests/streams/overlay/drawn_graph.hpp"

namespace overlay_test {

/// A list full of edges: a fan, from the upper left corner to places below it.
struct fan {
  using ports = streams::ports<streams::out<"edges", video::edges>>;
  struct options {
    std::uint32_t most = 1'000'000;
  };
  static void spec(options const& o, streams::spec_of<fan>& s) { s.out<"edges">({o.most}); }
  RONDO_HD void process(streams::stage_context<fan>& ctx, streams::tick const&) {
    auto const most = ctx.options().most;
    auto const edges = ctx.output<"edges">({most});
    if (!edges) return;
    video::list_view<video::edge> to{edges.about, edges.data};
    to.clear();
    for (std::uint32_t i = 0; i < most; ++i)
      to.add({0, i + 1, 0, 0, 1, 8 + 4 * static_cast<float>(i) / static_cast<float>(most)});
  }
};

RONDO_STAGES(stages, RONDO_OVERLAY_STAGES, fan, rondo::video::callback_sink)

}  // namespace overlay_test

RONDO_EMULATED_MODULE(overlay_test::stages)

namespace overlay_stages_test {

using namespace rondo;
using namespace overlay_test;
using namespace std::chrono_literals;

namespace {

pictures run(config const& settings) {
  runtime rt{use<overlay_test::stages>, settings};
  return drawn_graph{}.run(rt);
}

}  // namespace

TEST_CASE("links, curves, boxes, effects and layers are drawn alike on every device, in place",
          "[overlay][stages]") {
  auto const expected = run({.device = "cpu"});
  REQUIRE(expected.size() == 20);
  for (std::uint32_t const lanes : {1u, 4u}) {
    // The same distances, which one compiler rounds more often than another.
    auto const d = between(expected, run({.device = "cpu,emulated", .lanes = lanes}));
    INFO(lanes << " lanes: " << d.differ << " of " << d.of << " samples differ, by up to " << d.most);
    CHECK(d.most <= 1);
    CHECK(d.differ < d.of / 1000);
  }
  auto others = expected;
  std::rotate(others.begin(), others.begin() + 1, others.end());
  CHECK(between(expected, others).differ > 1000);
}

namespace {

/// The text with which a graph of drawing refuses to start.
struct wrong {
  wanderers::options from{};
  video::knn_graph::options links{};
  video::draw_lines::options lines{};
  video::draw_curves::options curves{};
  video::draw_sparks::options sparks{};
  video::draw_particles::options particles{};
};
std::string refusal_of(wrong const& o) {
  runtime rt{use<overlay_test::stages>, {.device = "cpu"}};
  streams::graph g{rt, {.ticks = 1}};
  auto const pattern = g.add<video::test_pattern>("pattern", {.width = 320, .height = 240});
  auto const from = g.add<wanderers>("from", o.from);
  auto const links = g.add<video::knn_graph>("links", o.links);
  auto const lines = g.add<video::draw_lines>("lines", o.lines);
  auto const curves = g.add<video::draw_curves>("curves", o.curves);
  auto const sparks = g.add<video::draw_sparks>("sparks", o.sparks);
  auto const particles = g.add<video::draw_particles>("particles", o.particles);
  auto const to = g.add<video::callback_sink>("to", {});
  g.connect(from.out<"points">(), links.in<"points">());
  g.connect(from.out<"points">(), particles.in<"points">());
  g.connect(links.out<"edges">(), lines.in<"edges">());
  g.connect(links.out<"edges">(), curves.in<"edges">());
  g.connect(links.out<"edges">(), sparks.in<"edges">());
  g.connect(pattern.out<"video">(), lines.in<"video">());
  g.connect(lines.out<"video">(), curves.in<"video">());
  g.connect(curves.out<"video">(), sparks.in<"video">());
  g.connect(sparks.out<"video">(), particles.in<"video">());
  g.connect(particles.out<"video">(), to.in<"video">());
  try {
    g.start();
  } catch (std::exception const& e) {
    return e.what();
  }
  return "started";
}

}  // namespace

TEST_CASE("options of drawing that make no sense are refused by name, also those of a program",
          "[overlay][stages]") {
  using Catch::Matchers::Contains;
  CHECK_THAT(refusal_of({.from = {.most = 1 << 16}, .links = {{.k = 20}}}),
             Contains("links") && Contains("65536 points"));
  CHECK_THAT(refusal_of({.lines = {{.colour = "red"}}}), Contains("lines") && Contains("'red'"));
  // With these, drawing would divide by 0, or leave its memory.
  CHECK_THAT(refusal_of({.links = {{.k = 0}}}), Contains("links") && Contains("'k' is 0"));
  CHECK_THAT(refusal_of({.links = {{.k = 33}}}), Contains("links") && Contains("'k' is 33"));
  CHECK_THAT(refusal_of({.curves = {.samples = 1}}), Contains("curves") && Contains("'samples' is 1"));
  CHECK_THAT(refusal_of({.sparks = {.every = 0}}), Contains("sparks") && Contains("'every' is 0"));
  CHECK_THAT(refusal_of({.particles = {.life = 0}}), Contains("particles") && Contains("'life' is 0"));
}

namespace {

/// Draws lists of `most` edges with such a stage on a small picture. Returns why the graph did not start, or how many
/// were drawn, and the brightness of a pixel that the edges cover.
template <class Stage>
std::string drawn_with(std::uint32_t most, typename Stage::options const& o) {
  static int covered;
  covered = 0;
  runtime rt{use<overlay_test::stages>, {.device = "cpu"}};
  streams::graph g{rt, {.ticks = 1, .warn = [](std::string const&) {}}};
  auto const pattern = g.add<video::test_pattern>("pattern", {.width = 32, .height = 16});
  auto const from = g.add<overlay_test::fan>("from", {most});
  auto const draw = g.add<Stage>("draw", o);
  auto const to = g.add<video::callback_sink>(
      "to", {[](void*, video::image const& i, std::byte const* data, streams::tick const&) {
               covered = video::planes_at(i, data).of[0].at(0, 4);
             },
             nullptr});
  g.connect(pattern.out<"video">(), draw.template in<"video">());
  g.connect(from.out<"edges">(), draw.template in<"edges">());
  g.connect(draw.template out<"video">(), to.template in<"video">());
  try {
    g.start();
  } catch (std::exception const& e) {
    return e.what();
  }
  if (g.wait(300s)) return g.why_failed();
  return std::to_string(g.counts(draw).processed) + " drawn, " + std::to_string(covered);
}

}  // namespace

TEST_CASE("lists of a million edges are drawn, and more pieces than that are refused", "[overlay][stages]") {
  using Catch::Matchers::Contains;
  constexpr std::uint32_t million = 1'000'000;
  CHECK(drawn_with<video::draw_lines>(million, {{.width_px = 4}}) == "1 drawn, 235");
  CHECK(drawn_with<video::draw_lines>(million, {{.width_px = 4, .glow_px = 1}}) == "1 drawn, 235");
  CHECK(drawn_with<video::draw_curves>(million, {.stroke = {.width_px = 4}, .curvature = 0, .samples = 3}) ==
        "1 drawn, 235");
  CHECK_THAT(
      drawn_with<video::draw_curves>(million, {.samples = 4}),
      Contains("draw") && Contains("a list of up to 1000000 items (pieces of each: 3) may have 3000000 "
                                   "pieces; at most 2097152 are drawn: make the list shorter"));
  CHECK_THAT(drawn_with<video::draw_lines>((2 << 20) + 1, {}), Contains("at most 2097152 are drawn"));
}

}  // namespace overlay_stages_test
