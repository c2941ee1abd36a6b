// docs/actors.md, "Telemetry".
#include <algorithm>

#include "runtime/lifecycle.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"
#include "tests/consumer/actors/journal.hpp"

using namespace std::chrono_literals;

int main() {
  rondo::runtime rt{rondo::use<journals>, {.latency_sample_every = 1}};
  auto const j = rt.launch<journal>("j", {.active = false});
  check(!j.try_tell(line{1}));
  check(!j.try_tell(line{2}));
  rondo::telemetry t = rt.snapshot();
  check(t.conserved() && t.waiting == 2);  // accepted == handled + rejected + dead + waiting

  check(!rondo::terminate(j, rondo::termination::discard, rondo::block));
  t = rt.snapshot();
  check(t.retired.accepted == 2 && t.retired.dead == 2 && t.dead_letters == 2);
  auto const k = rt.launch<journal>("k");
  check(k.ask(read_lines{}, 1min, rondo::block).has_value());
  check_soon([&] { return (t = rt.snapshot()).conserved() && t.live.handled == 1; });
  auto const report = std::ranges::find(t.actors, "k", &rondo::actor_report::name);
  check(report->now.totals.latency_samples == 1 && report->latency_ns(0.99) > 0);
}
