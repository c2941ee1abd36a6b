// Wide stages: several teams work on one tick, and it is still one tick: for failures, replacements and checkpoints.
#include <filesystem>

#include "tests/scratch_directory.hpp"
#include "tests/streams/bed.hpp"

using namespace stream_test;
using namespace std::chrono_literals;
using rondo_test::eventually;
using at = tiled_adder::at;

namespace {

using bed = bed_of<test_stages>;

/// counter -> wide -> to
struct row {
  row(bed& b, tiled_adder::options const& how, streams::graph_options const& options,
      supervision const& supervise = always_restarted)
      : g(b.rt, options),
        from(g.add<counter>("from", {.count = 64})),
        wide(g.add<tiled_adder>("wide", how, {.supervise = supervise})),
        to(g.add<checker>("to", {.added = how.by})) {
    g.connect(from.out<"numbers">(), wide.in<"numbers">());
    g.connect(wide.out<"numbers">(), to.in<"numbers">());
  }
  streams::graph g;
  streams::stage_ref<counter> from;
  streams::stage_ref<tiled_adder> wide;
  streams::stage_ref<checker> to;
};

}  // namespace

TEST_CASE("a wide stage works on each tick in phases, in any number of tiles", "[streams][wide]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  auto const tiles = GENERATE(1u, 2u, 5u, 64u, 100u);
  INFO(device << ", " << tiles << " tiles");
  bed b(device);
  row r(b, {.by = 3, .count = tiles}, {.ticks = 300});
  r.g.start();
  REQUIRE(!r.g.wait(60s));
  auto const found = b.found("graph/to");
  CHECK(found.frames == 300);
  CHECK(found.wrong == 0);
  CHECK(found.missing == 0);
  CHECK(r.g.counts(r.wide).processed == 300);
  CHECK(r.g.counts(r.wide).failed == 0);
}

TEST_CASE("a wide stage that fails anywhere in a tick begins the tick again: nothing is lost",
          "[streams][wide]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  auto const where = GENERATE(at::tiles, at::first_phase, at::second_phase, at::process);
  INFO(device << ", place " << static_cast<int>(where));
  bed b(device);
  row r(b, {.by = 1, .fails = where}, {.ticks = 200});
  r.g.start();
  REQUIRE(!r.g.wait(60s));
  auto const found = b.found("graph/to");
  CHECK(found.frames == 200);
  CHECK(found.wrong == 0);
  CHECK(found.missing == 0);
  auto const counts = r.g.counts(r.wide);
  CHECK(counts.processed == 200);
  CHECK(counts.failed == 20);
  CHECK(counts.skipped == 0);
  CHECK(counts.failure == static_cast<std::uint32_t>(errc::handler_failed));
}

TEST_CASE("a tick that always fails a wide stage is given up and counted", "[streams][wide]") {
  auto const where = GENERATE(at::tiles, at::first_phase, at::second_phase, at::process);
  bed b("cpu");
  row r(b, {.by = 1, .fails = where, .fails_always_at = 40}, {.ticks = 100});
  r.g.start();
  REQUIRE(!r.g.wait(60s));
  auto const found = b.found("graph/to");
  CHECK(found.frames == 99);
  CHECK(found.missing == 1);
  CHECK(found.wrong == 0);
  CHECK(r.g.counts(r.wide).failed == 3);
  CHECK(r.g.counts(r.wide).skipped == 1);
}

TEST_CASE("a wide stage is replaced between two ticks, not within one", "[streams][wide][living]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  bed b(device);
  row r(b, {.by = 1, .spins = 200}, {});
  r.g.start();
  for (int i = 0; i < 20; ++i) {
    auto const seen = r.g.counts(r.to).processed;
    REQUIRE(eventually([&] { return r.g.counts(r.to).processed > seen; }));
    r.g.replace(r.wide, {.by = 1, .count = 1 + static_cast<std::uint32_t>(i), .spins = 200});
  }
  REQUIRE(!r.g.stop(60s));
  auto const found = b.found("graph/to");
  CHECK(found.frames == r.g.counts(r.from).processed);
  CHECK(found.wrong == 0);
  CHECK(found.missing == 0);
  CHECK(r.g.counts(r.wide).failed == 0);  // a tick that was begun again would count
}

TEST_CASE("a graph with a wide stage is paused and saved with whole ticks", "[streams][wide]") {
  rondo_test::scratch_directory const dir("wide");
  auto const file = dir.directory / "state.rondo";
  bed b("cpu");
  std::uint64_t next = 0;
  {
    row r(b, {.by = 1, .spins = 2'000}, {});
    r.g.start();
    for (int i = 0; i < 10; ++i) {
      REQUIRE(eventually([&] { return r.g.counts(r.to).processed > next; }));
      next = r.g.checkpoint(file).value();
    }
    static_cast<void>(r.g.pause());
    CHECK(r.g.counts(r.to).processed >= next);
    REQUIRE(!r.g.stop());
  }
  row r(b, {.by = 1, .spins = 2'000}, {.ticks = next + 50});
  CHECK(r.g.start_from(file) == next);
  REQUIRE(!r.g.wait(60s));
  CHECK(r.g.counts(r.wide).processed == 50);
}
