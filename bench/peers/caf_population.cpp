// CAF: many actors, and an idle system.
#include "bench/harness/isolate.hpp"
#include "bench/harness/sampling.hpp"
#include "bench/peers/caf_cases.hpp"
#include "bench/peers/caf_system.hpp"

namespace rondo::bench {
namespace {

constexpr std::size_t spawned = 100'000;

caf::behavior counter(caf::stateful_actor<std::uint64_t>* self) {
  return {[=](std::uint64_t amount) { return self->state += amount; }};
}

/// Every actor is asked once afterwards; an actor that cannot answer was not spawned.
void check_all_answer(caf_system& caf) {
  caf::scoped_actor self{caf.system()};
  std::uint64_t sum = 0;
  for (auto const& actor : caf.actors()) self->send(actor, std::uint64_t{2});
  std::size_t left = caf.actors().size();
  self->receive_while([&] { return left > 0; })([&](std::uint64_t value) {
    sum += value;
    --left;
  });
  check_equal("sum of the answers", std::uint64_t{2} * spawned, sum);
}

measurement spawn(sample_budget const&) {
  caf_system caf(1);
  caf.actors().reserve(spawned);
  double const before_bytes = resident_bytes();
  stopwatch const watch;
  for (std::size_t i = 0; i < spawned; ++i) caf.spawn(counter);
  timing const took = watch.stop();
  double const after_bytes = resident_bytes();
  check_all_answer(caf);

  measurement m;
  m["actors_per_s"] = {spawned * 1e9 / took.wall_ns};
  m["bytes_per_actor"] = {(after_bytes - before_bytes) / spawned};
  m["cpu_ns_per_actor"] = {took.cpu_ns / spawned};
  return m;
}

/// Idle for eight budgets: the processor time that the workers use.
measurement idle(sample_budget const& budget, std::string const& policy) {
  caf_system caf(2, policy);
  caf.spawn(counter);
  std::this_thread::sleep_for(budget.time);  // start-up does not count as idling
  return processor_time_of_idling(budget.time * 8);
}

}  // namespace

case_list caf_population_cases() {
  std::vector<std::pair<std::string, std::string>> const workers{{"workers", "2"}};
  return {{"spawn", "caf", {{"actors", std::to_string(spawned)}}, spawn},
          {"idle", "caf stealing", workers, [](sample_budget const& b) { return idle(b, "stealing"); }},
          {"idle", "caf sharing", workers, [](sample_budget const& b) { return idle(b, "sharing"); }}};
}

}  // namespace rondo::bench
