// Stages that wait for something outside their graph, and the host sides that wake them.
#include <atomic>
#include <mutex>
#include <vector>

#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/streams/stages.hpp"

using namespace stream_test;
using rondo_test::eventually;
using namespace std::chrono_literals;

namespace waiting_test {

/// Lets so many ticks through as the test says, and remembers them.
class sluice {
 public:
  explicit sluice(streams::host_link& stage) : stage_(stage) {}
  void open(std::uint32_t more) {
    open_ += more;
    stage_.wake();
  }
  /// A stage's: whether one more tick may pass.
  bool admits() {
    ++looks_;
    return open_ != 0;
  }
  void passed(std::uint64_t number) {
    --open_;
    std::lock_guard const lock(mutex_);
    numbers_.push_back(number);
  }

  std::vector<std::uint64_t> numbers() const {
    std::lock_guard const lock(mutex_);
    return numbers_;
  }
  std::uint32_t looks() const { return looks_; }

 private:
  streams::host_link& stage_;
  std::atomic<std::uint32_t> open_{0}, looks_{0};
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> numbers_;
};

/// What the stages of a test wait for, once the graph has begun.
struct gates {
  std::shared_ptr<sluice> source, sink;
};

/// Writes a frame before it knows whether it may.
struct tap {
  using ports = streams::ports<streams::out<"numbers", numbers>>;
  struct options {
    gates* all;
  };
  static constexpr auto where = streams::works::on_host;
  static void spec(options const&, streams::spec_of<tap>& s) { s.out<"numbers">({4}); }
  struct host {
    host(options const& o, streams::spec_of<tap> const&, streams::host_link& link)
        : at(o.all->source = std::make_shared<sluice>(link)) {}
    std::shared_ptr<sluice> at;
  };

  void process(streams::stage_context<tap>& ctx, streams::tick const& t) {
    auto const to = ctx.output<"numbers">({4});
    if (!to) return;
    for (std::uint32_t i = 0; i < 4; ++i) items(to.data)[i] = static_cast<std::uint32_t>(t.number) + i;
    if (!ctx.host().at->admits()) return ctx.wait();
    ctx.comes_from({7, 100 + t.number});
    ctx.host().at->passed(t.number);
  }
};

struct valve {
  using ports = streams::ports<streams::in<"numbers", numbers>>;
  using options = tap::options;
  static constexpr auto where = streams::works::on_host;
  struct host {
    host(options const& o, streams::spec_of<valve> const&, streams::host_link& link)
        : at(o.all->sink = std::make_shared<sluice>(link)) {}
    std::shared_ptr<sluice> at;
  };

  void process(streams::stage_context<valve>& ctx, streams::tick const& t) {
    auto const in = ctx.input<"numbers">();
    if (!ctx.host().at->admits()) {
      if (!ctx.is_stopping()) return ctx.wait();
      return ctx.count_lost(1);
    }
    bool const is_right =
        in && items(in.data)[3] == t.number + 3 && t.origin == streams::frame_origin{7, 100 + t.number};
    if (!is_right) return ctx.fail();
    ctx.host().at->passed(t.number);
  }
};

RONDO_STAGES(waiting_stages, tap, adder, valve)

}  // namespace waiting_test
using namespace waiting_test;
RONDO_EMULATED_MODULE(waiting_stages)
namespace {

std::vector<std::uint64_t> up_to(std::uint64_t count) {
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

}  // namespace

TEST_CASE("a stage that waits is called again when its host side wakes it, with the same frames",
          "[streams]") {
  gates all;
  runtime rt{use<waiting_stages>, {.device = "cpu"}};
  streams::graph g{rt};
  auto const from = g.add<tap>("from", {&all});
  auto const between = g.add<adder>("between", {.by = 0});
  auto const to = g.add<valve>("to", {&all});
  g.connect(from.out<"numbers">(), between.in<"numbers">());
  g.connect(between.out<"numbers">(), to.in<"numbers">());
  g.start();
  for (std::uint32_t i = 0; i < 50; ++i) {
    auto const looks = all.source->looks();
    CHECK(eventually([&] { return all.source->looks() != 0; }));  // it has waited at least once
    all.source->open(1);
    CHECK(eventually([&] { return all.source->numbers().size() == i + 1; }));
    CHECK(all.source->looks() > looks);
    CHECK(all.sink->numbers().size() == i);
    all.sink->open(1);
    CHECK(eventually([&] { return all.sink->numbers().size() == i + 1; }));
  }
  CHECK(g.counts(from).processed == 50);  // those that it put off do not count
  CHECK(g.counts(to).failed == 0);
  CHECK(!g.stop());
  CHECK(all.source->numbers() == up_to(50));
  CHECK(all.sink->numbers() == up_to(50));
}

TEST_CASE("a graph stops although its source and its sink wait", "[streams]") {
  gates all;
  runtime rt{use<waiting_stages>, {.device = "cpu"}};
  streams::graph g{rt};
  auto const from = g.add<tap>("from", {&all});
  auto const to = g.add<valve>("to", {&all});
  g.connect(from.out<"numbers">(), to.in<"numbers">());
  g.start();
  bool const sink_waits = GENERATE(false, true);
  if (sink_waits) all.source->open(100);  // more than the edge holds
  CHECK(eventually([&] { return (sink_waits ? all.sink : all.source)->looks() != 0; }));
  CHECK(!g.stop());
  CHECK(g.counts(to).lost == all.source->numbers().size());
  CHECK(all.sink->numbers().empty());
}

TEST_CASE("ticks that are due are made, although the source has waited for the last of them", "[streams]") {
  gates all;
  runtime rt{use<waiting_stages>, {.device = "cpu"}};
  streams::graph g{rt, {.ticks = 20}};
  auto const from = g.add<tap>("from", {&all});
  auto const to = g.add<valve>("to", {&all});
  g.connect(from.out<"numbers">(), to.in<"numbers">());
  g.start();
  all.sink->open(1000);
  for (std::uint32_t i = 0; i < 20; ++i) {
    all.source->open(1);
    CHECK(eventually([&] { return all.sink->numbers().size() == i + 1; }));
  }
  CHECK(!g.wait(60s));
  CHECK(g.counts(from).processed == 20);
}

TEST_CASE("a transfer keeps where frames come from", "[streams]") {
  gates all;
  runtime rt{use<waiting_stages>, {.device = "cpu,emulated"}};
  streams::graph g{rt, {.ticks = 50, .warn = [](std::string const&) {}}};
  auto const from = g.add<tap>("from", {&all});
  auto const there = g.add<adder>("there", {.by = 0}, {.device = 1});
  auto const to = g.add<valve>("to", {&all});
  g.connect(from.out<"numbers">(), there.in<"numbers">());
  g.connect(there.out<"numbers">(), to.in<"numbers">());
  g.start();
  all.source->open(1000);
  all.sink->open(1000);
  CHECK(!g.wait(60s));
  CHECK(g.counts(to).failed == 0);  // it checks the origin
  CHECK(all.sink->numbers() == up_to(50));
}
