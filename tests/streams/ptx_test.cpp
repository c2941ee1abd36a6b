// Graphs on the device `ptx`, which executes what nvcc has made of their stages: frames pass, and pictures are those of
// a processor.
#include <cstdio>
#include <map>
#include <mutex>
#include <sstream>

#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/ptx/ptx_machine.hpp"
#include "tests/streams/check_edge.hpp"
#include "tests/streams/pictures.hpp"

using namespace stream_test;
using namespace std::chrono_literals;
using rondo_test::eventually;

namespace {

std::unique_ptr<runtime> start(std::string const& device) {
  config settings;
  settings.device = device;
  settings.actors = 32;
  settings.buffer_bytes_cap = 16 << 20;
  if (device == "cpu") return std::make_unique<runtime>(use<all_stages>, settings);
  settings.teams = 2;
  std::vector<chosen_device> devices;
  devices.push_back(make_ptx_device({{all_stages::key, RONDO_PTX_STAGES}}, settings, {}));
  settings.device = "cuda";  // a configuration has no device ptx
  return std::make_unique<runtime>(use<all_stages>, settings, std::move(devices));
}

/// The lines that the stages have logged.
struct journal {
  explicit journal(runtime& rt)
      : log(rt.on_log([this](log_line const& line) {
          std::lock_guard const lock(mutex);
          lines.push_back(line.text);
        })) {}
  std::mutex mutex;
  std::vector<std::string> lines;
  subscription log;

  std::vector<std::string> wait_for(std::size_t count) {
    CHECK(eventually([&] {
      std::lock_guard const lock(mutex);
      return lines.size() >= count;
    }));
    std::lock_guard const lock(mutex);
    return lines;
  }
};

std::vector<std::string> pictures_of(std::string const& device) {
  constexpr std::uint64_t ticks = 2;
  auto const rt = start(device);
  journal told(*rt);
  streams::graph g{*rt, {.ticks = ticks}};
  auto const pattern = g.add<video::test_pattern>("pattern", {.width = 64, .height = 48});
  auto const soft = g.add<video::blur>("soft", {.sigma = 1});
  auto const small = g.add<video::test_pattern>("small", {.width = 16, .height = 16});
  auto const all = g.add<video::compositor>("all", {.at = {{-4, 10}}});
  auto const wave = g.add<video::waveform>("wave");
  auto const rate = g.add<video::frame_rate>("rate", {.fixed = true});
  auto const to = g.add<hasher>("to");
  g.connect(pattern.out<"video">(), soft.in<"video">());
  g.connect(soft.out<"video">(), all.in<"video">());
  g.connect(small.out<"video">(), all.in<"layer1">(), {.how = streams::delivery::lossless});
  g.connect(all.out<"video">(), wave.in<"video">());
  g.connect(wave.out<"video">(), rate.in<"video">());
  g.connect(rate.out<"video">(), to.in<"video">());
  g.start();
  CHECK(!g.wait(120s));
  return told.wait_for(ticks);
}

/// What is drawn, as samples.
std::vector<std::uint8_t> drawn_on(std::string const& device) {
  constexpr overlay_test::drawn_graph graph{.ticks = 2, .width = 64, .height = 48, .points = 8};
  constexpr std::size_t lines = graph.ticks * (48 * 2 + 2 * 24);
  auto const rt = start(device);
  journal told(*rt);
  graph.run(*rt, [](streams::graph& g) { return g.add<printer>("to").in<"video">(); });
  std::vector<std::uint8_t> samples;
  for (auto const& line : told.wait_for(lines)) {
    std::istringstream from(line);
    for (std::uint64_t word = 0; from >> word;)
      for (int n = 0; n < 8; ++n) samples.push_back(static_cast<std::uint8_t>(word >> 8 * n));
  }
  CHECK(samples.size() == 32 * lines);
  return samples;
}

}  // namespace

TEST_CASE("what a GPU draws is what a processor draws, on pictures and on layers",
          "[streams][overlay][ptx]") {
  auto const expected = drawn_on("cpu"), drawn = drawn_on("ptx");
  REQUIRE(expected.size() == drawn.size());
  int most = 0;
  std::size_t differ = 0;
  for (std::size_t n = 0; n < drawn.size(); ++n) {
    auto const by = std::abs(expected[n] - drawn[n]);
    most = std::max(most, by);
    differ += by != 0;
  }
  INFO(differ << " of " << drawn.size() << " samples differ, by up to " << most);
  CHECK(most <= 1);
  CHECK(differ < drawn.size() / 100);
}

TEST_CASE("a graph on a GPU passes each frame once, in order, also when a stage fails", "[streams][ptx]") {
  auto const rt = start("ptx");
  journal told(*rt);
  streams::graph g{*rt, {.ticks = 40}};
  auto const from = g.add<counter>("from");
  auto const frail = g.add<adder>("frail", {.by = 3, .fails_every = 10}, {.supervise = always_restarted});
  auto const to = g.add<checker>("to", {.added = 3});
  g.connect(from.out<"numbers">(), frail.in<"numbers">());
  g.connect(frail.out<"numbers">(), to.in<"numbers">());
  g.start();
  REQUIRE(!g.wait(120s));
  CHECK(told.wait_for(1).front() == "found 40 0 0 0");
  CHECK(g.counts(frail).failed == 4);
  CHECK(g.counts(frail).copied == 0);
}

TEST_CASE("on a GPU, teams share the ticks of a wide stage, also when it fails", "[streams][ptx]") {
  using at = tiled_adder::at;
  auto const where = GENERATE(at::nowhere, at::first_phase, at::process);
  auto const rt = start("ptx");
  journal told(*rt);
  streams::graph g{*rt, {.ticks = 30}};
  auto const from = g.add<counter>("from", {.count = 64});
  auto const wide = g.add<tiled_adder>("wide", {.by = 3, .fails = where}, {.supervise = always_restarted});
  auto const to = g.add<checker>("to", {.added = 3});
  g.connect(from.out<"numbers">(), wide.in<"numbers">());
  g.connect(wide.out<"numbers">(), to.in<"numbers">());
  g.start();
  REQUIRE(!g.wait(120s));
  CHECK(told.wait_for(1).front() == "found 30 0 0 0");
  CHECK(g.counts(wide).failed == (where == at::nowhere ? 0 : 3));
}

TEST_CASE("on a GPU, each delivery accounts for every frame while a stage fails, is replaced or is paused",
          "[streams][ptx]") {
  auto const how = GENERATE(streams::delivery::lossless, streams::delivery::every, streams::delivery::latest);
  std::string const trouble = GENERATE("failures", "replacements", "pauses");
  bool const before =
      GENERATE(true, false);  // the delivery is that before the stage in trouble, or that behind it
  INFO(name_of(how) << (before ? " before " : " behind ") << "a stage with " << trouble);
  constexpr std::uint32_t times = 5;
  auto const rt = start("ptx");
  journal told(*rt);
  streams::graph g{*rt, {.window = 16}};
  auto const slow = [&](bool is_slow) { return is_slow && how != streams::delivery::lossless ? 300u : 0u; };
  adder::options const add{.by = 1, .fails_every = trouble == "failures" ? 7u : 0u, .spins = slow(before)};
  auto const from = g.add<counter>("from");
  auto const plus = g.add<adder>("plus", add, {.supervise = always_restarted});
  auto const to = g.add<checker>("to", {.added = 1, .spins = slow(!before)});
  connect_row(g, from, plus, to, how, before);
  auto const goes_on = [&] {
    auto const seen = g.counts(to).processed;
    REQUIRE(eventually([&] { return g.counts(to).processed > seen; }));
  };
  g.start();
  if (trouble == "failures") REQUIRE(eventually([&] { return g.counts(plus).failed >= times; }));
  for (std::uint32_t i = 0; i < times && trouble != "failures"; ++i) {
    goes_on();
    if (trouble == "replacements") {
      g.replace(plus, add);
    } else {
      REQUIRE(g.pause());
      REQUIRE(g.resume());
    }
  }
  goes_on();
  REQUIRE(!g.stop(60s));

  checker::found found{};
  auto const line = told.wait_for(1).back();
  REQUIRE(std::sscanf(line.c_str(), "found %lu %lu %lu %lu", &found.frames, &found.wrong, &found.out_of_order,
                      &found.missing) == 4);
  CHECK(found.frames == g.counts(to).processed);
  CHECK(found.wrong == 0);
  CHECK(found.out_of_order == 0);
  check_edge(before ? how : streams::delivery::lossless, g.counts(from), g.counts(plus));
  check_edge(before ? streams::delivery::lossless : how, g.counts(plus), g.counts(to));
  if (how == streams::delivery::lossless) CHECK(found.missing == 0);
  if (how == streams::delivery::latest) CHECK(g.counts(to).last_number == g.counts(from).last_number);
  CHECK((g.counts(plus).failed != 0) == (trouble == "failures"));
}

TEST_CASE("a GPU makes the pictures of a processor", "[streams][ptx]") {
  CHECK(pictures_of("ptx") == pictures_of("cpu"));
}
