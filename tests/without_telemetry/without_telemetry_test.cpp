// A runtime built with RONDO_TELEMETRY=OFF.
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/runtime.hpp"
#include "tests/catch.hpp"

namespace without_telemetry_test {

using namespace std::chrono_literals;

struct add {
  std::uint64_t amount;
};
struct get {};
struct total {
  std::uint64_t value;
};

struct counter {
  using messages = rondo::messages<add, rondo::ask<get, total>>;
  std::uint64_t sum = 0;
  RONDO_HD void on(rondo::context&, add const& m) { sum += m.amount; }
  RONDO_HD void on(rondo::context& ctx, get const&) { ctx.reply(total{sum}); }
};
RONDO_MODULE(counters, counter)

}  // namespace without_telemetry_test
using namespace without_telemetry_test;

RONDO_EMULATED_MODULE(counters)

static_assert(!rondo::with_telemetry);

TEST_CASE("without telemetry every message is handled and accounted for, and no latency is sampled",
          "[telemetry][G1]") {
  for (auto const* device : {"cpu", "emulated"}) {
    INFO("device " << device);
    rondo::runtime rt(rondo::use<counters>,
                      {.device = device, .teams = 2, .lanes = 1, .latency_sample_every = 1});
    auto const clicks = rt.launch<counter>("clicks", {.capacity = 4096});
    for (int i = 0; i < 1000; ++i) REQUIRE_FALSE(clicks.tell(add{2}, {.wait_for_room = true}, rondo::block));
    auto const sum = clicks.ask(get{}, 30s, rondo::block);
    REQUIRE(sum.has_value());
    CHECK(sum->value == 2000);
    rt.stop();
    auto const t = rt.snapshot();
    CHECK(t.conserved());
    REQUIRE(t.actors.size() == 1);
    CHECK(t.actors[0].now.totals.handled == 1001);
    CHECK(t.actors[0].now.totals.latency_samples == 0);
  }
}
