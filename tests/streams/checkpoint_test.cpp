// Checkpoints of graphs: another graph goes on from them, and no frame is missing or processed twice.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/checkpoint.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/streams/state/saved_graph.hpp"
#include "tests/streams/bed.hpp"

using namespace stream_test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace graph_checkpoint_test {

/// Says where it was told to begin.
struct resumer {
  using ports = counter::ports;
  static constexpr auto where = streams::works::on_host;
  struct options {
    atomic<std::uint64_t>* tick = nullptr;
    atomic<std::uint64_t>* processed = nullptr;
  };
  static void spec(options const&, streams::spec_of<resumer>& s) { s.out<"numbers">({16}); }
  struct host {
    host(options const& o, streams::spec_of<resumer> const&, streams::host_link& link) {
      o.tick->store(link.begins_at().tick, memory_order::relaxed);
      o.processed->store(link.begins_at().processed, memory_order::relaxed);
    }
  };
  void process(streams::stage_context<resumer>& ctx, streams::tick const& t) {
    auto const to = ctx.output<"numbers">({16});
    if (!to) return;
    for (std::uint32_t i = 0; i < 16; ++i) items(to.data)[i] = static_cast<std::uint32_t>(t.number) + i;
  }
};

/// A source with ticks of its own.
struct own_source {
  using ports = counter::ports;
  static constexpr auto where = streams::works::on_host;
  static constexpr bool has_own_ticks = true;
  struct options {};
  static void spec(options const&, streams::spec_of<own_source>& s) { s.out<"numbers">({16}); }
  struct host {
    host(options const&, streams::spec_of<own_source> const&, streams::host_link& link)
        : next(link.begins_at().processed) {}
    std::uint64_t next;
  };
  bool due(streams::stage_context<own_source>& ctx, streams::tick_due& t) {
    t = {ctx.host().next++, ctx.now_ns()};
    return true;
  }
  void process(streams::stage_context<own_source>& ctx, streams::tick const& t) {
    auto const to = ctx.output<"numbers">({16});
    if (!to) return;
    for (std::uint32_t i = 0; i < 16; ++i) items(to.data)[i] = static_cast<std::uint32_t>(t.number) + i;
  }
};

RONDO_STAGES(checkpoint_stages, counter, adder, checker, wide_adder, tally, next_tally, resumer, own_source)

using saved_bed = bed_of<checkpoint_stages>;

struct state_file {
  fs::path path = fs::temp_directory_path() / ("rondo-graph-" + std::to_string(::getpid()) + ".state");
  state_file() { fs::remove(path); }
  ~state_file() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
};

/// What a graph of these stages is.
struct saved_how {
  std::string device = "cpu";
  std::uint32_t replicas = 1, fails_every = 0;
  double rate = 0;
  streams::delivery to_sink = streams::delivery::lossless;
};

/// A runtime, and on it a source, two stages, and a checker; two of them on the second device if there are two.
struct saved_chain {
  saved_bed b;
  streams::graph g;
  streams::stage_ref<counter> from;
  streams::stage_ref<checker> to;

  explicit saved_chain(saved_how const& how, std::uint64_t ticks = 0)
      : b(how.device),
        g(b.rt, {.rate = how.rate, .ticks = ticks, .window = 8, .warn = [](std::string const&) {}}),
        from(g.add<counter>("from", {}, on(how, 0))),
        to(g.add<checker>("to", {.added = 7}, on(how, 1))) {
    auto second = on(how, 1);
    second.supervise = always_restarted;
    auto const plus = g.add<adder>("plus", {.by = 3, .fails_every = how.fails_every}, second);
    auto third = on(how, 0);
    third.replicas = how.replicas;
    auto const more = g.add<adder>("more", {.by = 4, .spins = 2000}, third);
    g.connect(from.out<"numbers">(), plus.in<"numbers">());
    g.connect(plus.out<"numbers">(), more.in<"numbers">());
    g.connect(more.out<"numbers">(), to.in<"numbers">(), {.how = how.to_sink});
  }
  static streams::stage_options on(saved_how const& how, std::uint32_t device) {
    if (how.device.find(',') == std::string::npos) return {};
    return {.device = device};
  }
  void process_more(std::uint64_t frames) {
    auto const goal = g.counts(to).processed + frames;
    REQUIRE(rondo_test::eventually([&] { return g.counts(to).processed >= goal; }));
  }
};

/// What the checker's memory held, and how often it was called by then.
std::pair<checker::found, std::uint64_t> saved_found(fs::path const& file) {
  auto const saved = streams::read_saved_graph(file);
  auto const to = std::ranges::find(saved.stages, "to", &streams::saved_stage::name);
  REQUIRE(to != saved.stages.end());
  checker::found f{};
  REQUIRE(to->scratch.size() == sizeof f);
  std::memcpy(&f, to->scratch.data(), sizeof f);
  return {f, to->processed};
}

/// The error of `f`.
template <class F>
std::string refusal_of(F const& f) {
  try {
    f();
  } catch (std::runtime_error const& e) {
    return e.what();
  }
  return {};
}

}  // namespace graph_checkpoint_test
using namespace graph_checkpoint_test;

RONDO_EMULATED_MODULE(::checkpoint_stages)

TEST_CASE("a graph goes on from a checkpoint: no frame is missing, and none is processed twice",
          "[streams][G1][G9]") {
  saved_how const how{.device = GENERATE(as<std::string>{}, "cpu", "emulated", "cpu,emulated"),
                      .replicas = GENERATE(1u, 3u),
                      .fails_every = GENERATE(0u, 9u),
                      .rate = GENERATE(0.0, 2000.0)};
  CAPTURE(how.device, how.replicas, how.fails_every, how.rate);
  state_file state;
  std::uint64_t next = 0;
  for (int run = 0; run < 3; ++run) {
    saved_chain c(how);
    if (run == 0)
      c.g.start();
    else
      REQUIRE(c.g.start_from(state.path) == next);
    c.process_more(20);
    static_cast<void>(c.g.checkpoint(state.path));
    c.process_more(20);
    auto const before = next;
    next = c.g.checkpoint(state.path).value();
    CHECK(next >= before + 40);
    c.process_more(5);  // as lost as by a crash
    auto const [found, processed] = saved_found(state.path);
    CHECK(found.frames == processed);
    CHECK(found.frames + found.missing == found.last + 1);
    if (how.rate == 0) CHECK(found.frames == next);
  }
  saved_chain c(how, next + 100);
  REQUIRE(c.g.start_from(state.path) == next);
  REQUIRE(!c.g.wait(60s));
  auto const found = c.b.found("graph/to");
  CHECK(found.wrong == 0);
  CHECK(found.out_of_order == 0);
  if (how.rate != 0) return;  // a late source has skipped ticks
  CHECK(found.frames == next + 100);
  CHECK(found.missing == 0);
}

TEST_CASE("a graph with lossy edges is saved with what has arrived", "[streams][G9]") {
  saved_how const how{.to_sink = GENERATE(streams::delivery::latest, streams::delivery::every)};
  state_file state;
  saved_chain c(how);
  c.g.start();
  c.process_more(50);
  auto const next = c.g.checkpoint(state.path).value();
  auto const [found, processed] = saved_found(state.path);
  CHECK(found.frames == processed);
  CHECK(found.frames + found.missing == found.last + 1);
  if (how.to_sink == streams::delivery::latest) CHECK(found.last + 1 == next);  // the newest has arrived
  c.process_more(5);
}

TEST_CASE("a paused graph stays paused when it is saved", "[streams]") {
  state_file state;
  saved_chain c({});
  c.g.start();
  c.process_more(5);
  auto const made = c.g.pause().value();
  CHECK(c.g.checkpoint(state.path) == made);
  CHECK(c.g.checkpoint(state.path) == made);
  CHECK(c.g.counts(c.to).processed == made);
  REQUIRE(c.g.resume());
  c.process_more(5);
}

TEST_CASE("the host sides of stages know where they begin, and ticks of their own are counted on",
          "[streams]") {
  bool const has_own_ticks = GENERATE(false, true);
  state_file state;
  atomic<std::uint64_t> tick{99}, processed{99};
  std::uint64_t next = 0;
  for (int run = 0; run < 2; ++run) {
    saved_bed b("cpu");
    streams::graph g{b.rt, {.ticks = run == 0 ? 0 : next + 100}};
    auto const to = g.add<checker>("to");
    if (has_own_ticks)
      g.connect(g.add<own_source>("from").out<"numbers">(), to.in<"numbers">());
    else
      g.connect(g.add<resumer>("from", {.tick = &tick, .processed = &processed}).out<"numbers">(),
                to.in<"numbers">());
    if (run == 0) {
      g.start();
      REQUIRE(rondo_test::eventually([&] { return g.counts(to).processed >= 10; }));
      next = g.checkpoint(state.path).value();
      if (has_own_ticks) next = streams::read_saved_graph(state.path).stages.front().own_ticks;
      CHECK(tick.load(memory_order::relaxed) == (has_own_ticks ? 99 : 0));
      continue;
    }
    g.start_from(state.path);
    CHECK(tick.load(memory_order::relaxed) == (has_own_ticks ? 99 : next));
    CHECK(processed.load(memory_order::relaxed) == (has_own_ticks ? 99 : next));
    REQUIRE(!g.wait(60s));
    auto const found = b.found("graph/to");
    CHECK(found.frames == next + 100);
    CHECK(found.wrong + found.missing + found.out_of_order == 0);
  }
}

TEST_CASE("a graph that ends before its checkpoint is refused", "[streams]") {
  bool const has_own_ticks = GENERATE(false, true);
  state_file state;
  for (std::uint64_t const ticks : {0, 5}) {
    saved_bed b("cpu");
    streams::graph g{b.rt, {.ticks = ticks}};
    auto const to = g.add<checker>("to");
    if (has_own_ticks)
      g.connect(g.add<own_source>("from").out<"numbers">(), to.in<"numbers">());
    else
      g.connect(g.add<counter>("from").out<"numbers">(), to.in<"numbers">());
    if (ticks == 0) {
      g.start();
      REQUIRE(rondo_test::eventually([&] { return g.counts(to).processed >= 5; }));
      REQUIRE(g.checkpoint(state.path));
    } else {
      CHECK_THAT(refusal_of([&] { g.start_from(state.path); }),
                 Catch::Matchers::Contains("and the graph ends after 5"));
    }
  }
}

TEST_CASE("a checkpoint of another graph, or a damaged one, is refused by name", "[streams]") {
  using Catch::Matchers::Contains;
  state_file state;
  auto const start_with = [&](auto const& add) {
    saved_bed b("cpu");
    streams::graph g{b.rt};
    auto const from = g.add<counter>("from");
    add(g, from);
    auto const why = refusal_of([&] { g.start_from(state.path); });
    if (why.empty()) CHECK(!g.stop());
    return why;
  };
  auto const with_tally = [](char const* name, std::uint64_t scratch_bytes = 8) {
    return [=](streams::graph& g, streams::stage_ref<counter> const& from) {
      auto const to = g.add<tally>(name, {.scratch_bytes = scratch_bytes});
      g.connect(from.out<"numbers">(), to.in<"numbers">());
    };
  };
  CHECK_THAT(start_with(with_tally("to")), Contains(state.path.string()));  // there is none
  {
    saved_bed b("cpu");
    streams::graph g{b.rt};
    auto const from = g.add<counter>("from");
    CHECK_THAT(refusal_of([&] { g.checkpoint(state.path); }), Contains("it has not started"));
    with_tally("to")(g, from);
    g.start();
    static_cast<void>(g.checkpoint(state.path));
    CHECK(!g.stop());
    CHECK_FALSE(g.checkpoint(state.path));  // it has ended
  }
  CHECK(start_with(with_tally("to")) == "");
  CHECK_THAT(start_with(with_tally("other")), Contains("it has no stage 'other'"));
  CHECK_THAT(start_with(with_tally("to", 16)),
             Contains("its stage 'to' has 8 bytes of scratch memory, and needs 16 here"));
  CHECK_THAT(start_with([](streams::graph& g, auto const& from) {
               auto const to = g.add<next_tally>("to");
               g.connect(from.template out<"numbers">(), to.template in<"numbers">());
             }),
             Contains("its stage 'to' is a stream_test::tally, and here a stream_test::next_tally"));
  CHECK_THAT(start_with([](streams::graph& g, auto const& from) {
               auto const to = g.add<tally>("to"), more = g.add<tally>("more");
               g.connect(from.template out<"numbers">(), to.template in<"numbers">());
               g.connect(from.template out<"numbers">(), more.template in<"numbers">());
             }),
             Contains("it has no stage 'more'"));

  std::string bytes;
  {
    std::ifstream in(state.path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  auto const rewrite = [&](std::string const& text) {
    std::ofstream(state.path, std::ios::binary | std::ios::trunc) << text;
  };
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    rewrite(damaged);
    CAPTURE(at);
    REQUIRE(refusal_of([&] { static_cast<void>(streams::read_saved_graph(state.path)); }) != "");
    rewrite(bytes.substr(0, at));
    REQUIRE(refusal_of([&] { static_cast<void>(streams::read_saved_graph(state.path)); }) != "");
  }
  rewrite(bytes);
  CHECK(start_with(with_tally("to")) == "");
}

TEST_CASE("a graph that has come to its end is not saved", "[streams]") {
  bool const has_own_ticks = GENERATE(false, true);
  state_file state;
  saved_bed b("cpu");
  streams::graph g{b.rt, {.ticks = 20}};
  auto const to = g.add<checker>("to");
  if (has_own_ticks)
    g.connect(g.add<own_source>("from").out<"numbers">(), to.in<"numbers">());
  else
    g.connect(g.add<counter>("from").out<"numbers">(), to.in<"numbers">());
  g.start();
  REQUIRE(rondo_test::eventually([&] { return g.counts(to).processed == 20; }));
  CHECK_FALSE(g.checkpoint(state.path));
  CHECK_FALSE(fs::exists(state.path));
  CHECK(!g.wait(60s));
}

TEST_CASE("a graph whose frames do not arrive is not saved, and goes on", "[streams]") {
  state_file state;
  saved_bed b("cpu");
  streams::graph g{b.rt, {.ticks = 8}};
  auto const from = g.add<counter>("from");
  auto const to = g.add<checker>("to", {.spins = 100'000'000});
  g.connect(from.out<"numbers">(), to.in<"numbers">());
  g.start();
  CHECK_THAT(refusal_of([&] { g.checkpoint(state.path, 1ms); }), Catch::Matchers::Contains("was not saved"));
  CHECK_FALSE(fs::exists(state.path));
  REQUIRE(!g.wait(60s));
  CHECK(b.found("graph/to").frames == 8);
}

// Regression: they were saved with the addresses of their memory, and a runtime that was restored from the file
// crashed.
TEST_CASE("a checkpoint of a runtime names the actors of its graphs and has none of them",
          "[streams][checkpoint][addresses]") {
  saved_how const how{.device = GENERATE("cpu", "emulated", "cpu,emulated")};
  CAPTURE(how.device);
  state_file const file;
  {
    saved_chain c(how);
    c.g.start();
    c.process_more(20);
    auto left_out = rondo::checkpoint(c.b.rt, file.path);
    std::vector<std::string> of_graph;
    for (auto const& a : c.b.rt.list()) of_graph.push_back(a.name);
    std::ranges::sort(left_out);
    std::ranges::sort(of_graph);
    CHECK(left_out == of_graph);
    CHECK(left_out.size() >= 5);
    c.process_more(20);  // the graph goes on
    c.g.stop();
  }
  saved_chain next(how, 50);
  rondo::restore(next.b.rt, file.path);
  CHECK(next.b.rt.list().empty());
  next.g.start();
  REQUIRE(!next.g.wait(60s));
  CHECK(next.g.counts(next.to).processed == 50);
}
