// What handlers learn from the runtime: that they should stop, and how many messages come at once.
#include "runtime/checkpoint.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/runtime.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/scratch_directory.hpp"

using namespace rondo_test;
using namespace std::chrono_literals;

namespace handler_test {

struct toil {};
struct item {};
struct ask_largest {};
struct largest {
  std::uint32_t items;
};

std::atomic<int> begun, asked_to_stop;

struct toiler {
  using messages = rondo::messages<toil>;
  void on(rondo::context& ctx, toil const&) {
    ++begun;
    auto const end_ns = ctx.now_ns() + 30'000'000'000;  // so that a failed test ends
    while (!ctx.should_stop())
      if (ctx.now_ns() > end_ns) return;
    ++asked_to_stop;
  }
};

struct gatherer {
  using messages = rondo::messages<item, rondo::ask<ask_largest, largest>>;
  std::uint32_t most = 0;
  void on(rondo::context&, rondo::batch<item> const& items) { most = std::max(most, items.size()); }
  void on(rondo::context& ctx, ask_largest const&) { ctx.reply(largest{most}); }
};
RONDO_MODULE(handlers, toiler, gatherer)
RONDO_EMULATED_MODULE(handlers)

std::unique_ptr<rondo::runtime> start_handlers_on(std::string device) {
  rondo::config c;
  c.device = std::move(device);
  c.teams = 2;
  c.handler_limit_ms = 0;
  return std::make_unique<rondo::runtime>(rondo::use<handlers>, c);
}

rondo::actor_ref<toiler> begin_toil(rondo::runtime& rt, rondo::actor_options const& options = {}) {
  begun = asked_to_stop = 0;
  auto const t = rt.launch<toiler>("t", options);
  REQUIRE_FALSE(t.try_tell(toil{}));
  REQUIRE(eventually([] { return begun == 1; }));
  return t;
}

/// The most messages that the actor's handler got at once, of ten that had waited.
std::uint32_t largest_of_ten(rondo::actor_ref<gatherer> g) {
  REQUIRE_FALSE(rondo::activate(g, rondo::block));
  return g.ask(ask_largest{}, patience, rondo::block).value().items;
}
rondo::actor_ref<gatherer> with_ten(rondo::runtime& rt, std::string name, rondo::actor_options options) {
  options.active = false;
  auto const g = rt.launch<gatherer>(std::move(name), options);
  for (int i = 0; i < 10; ++i) REQUIRE_FALSE(g.try_tell(item{}));
  REQUIRE(eventually([&] { return rt.snapshot().waiting == 10; }));
  return g;
}

}  // namespace handler_test
using namespace handler_test;

TEST_CASE("a handler learns that its actor is to terminate", "[handler]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  auto const how = GENERATE(rondo::termination::drain, rondo::termination::discard);
  bool const pinned = GENERATE(false, true);
  if (pinned && device != "cpu") return;  // its own team would take the request
  auto const rt = start_handlers_on(device);
  auto const t = begin_toil(*rt, {.pinned = pinned});
  CHECK_FALSE(rondo::terminate(t, how, rondo::block));
  CHECK(asked_to_stop == 1);
}

TEST_CASE("a handler learns that the runtime stops", "[handler]") {
  auto const rt = start_handlers_on(GENERATE(as<std::string>{}, "cpu", "emulated"));
  begin_toil(*rt, {.pinned = GENERATE(false, true)});
  CHECK(rt->stop().stopped);
  CHECK(asked_to_stop == 1);
}

TEST_CASE("a handler learns that a checkpoint waits for it", "[handler]") {
  auto const rt = start_handlers_on(GENERATE(as<std::string>{}, "cpu", "emulated"));
  begin_toil(*rt);
  scratch_directory const folder("handler");
  rondo::checkpoint(*rt, folder.directory / "all.checkpoint");
  CHECK(asked_to_stop == 1);
}

TEST_CASE("a batch holds at most as many messages as its actor was launched for", "[handler]") {
  auto const device = GENERATE(as<std::string>{}, "cpu", "emulated");
  scratch_directory const folder("handler");
  auto const file = folder.directory / "all.checkpoint";
  {
    auto const rt = start_handlers_on(device);
    CHECK(largest_of_ten(with_ten(*rt, "usual", {})) == 10);
    CHECK(largest_of_ten(with_ten(*rt, "small", {.batch = 3})) == 3);
    with_ten(*rt, "saved", {.batch = 4});
    rondo::checkpoint(*rt, file);
  }
  auto const rt = start_handlers_on(device);
  rondo::restore(*rt, file);
  CHECK(largest_of_ten(rt->find<gatherer>("saved").value()) == 4);
}
