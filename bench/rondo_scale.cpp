// Rondo: many actors, and an idle runtime.
#include <algorithm>

#include "bench/harness/isolate.hpp"
#include "bench/harness/sampling.hpp"
#include "bench/rondo_actors.hpp"
#include "bench/rondo_cases.hpp"

namespace rondo::bench {
namespace {

constexpr std::uint32_t spawned = 100'000;

/// Every actor is asked once afterwards; an actor that cannot answer was not spawned.
void check_all_answer(std::vector<actor_ref<counter>> const& actors) {
  std::uint64_t total = 0;
  for (auto const& actor : actors)
    total += expect("asking an actor", actor.ask(number{2}, ask_options{}, block)).value;
  check_equal("sum of the answers", std::uint64_t{2} * spawned, total);
}

/// bytes_per_actor contains everything that the runtime added, including its tables for 100,000 actors; "after_mail" is
/// measured after each actor has handled a message.
template <class Launch>
measurement spawn(Launch const& launch) {
  std::vector<actor_ref<counter>> actors(spawned);  // filled, so that it is resident
  double const before_bytes = resident_bytes();
  auto settings = with_teams(1);
  settings.actors = spawned;
  auto const rt = start(settings);
  stopwatch const watch;
  launch(*rt, actors);
  timing const took = watch.stop();
  double const after_bytes = resident_bytes();
  check_all_answer(actors);
  double const after_mail_bytes = resident_bytes();

  measurement m;
  m["actors_per_s"] = {spawned * 1e9 / took.wall_ns};
  m["bytes_per_actor"] = {(after_bytes - before_bytes) / spawned};
  m["bytes_per_actor_after_mail"] = {(after_mail_bytes - before_bytes) / spawned};
  m["cpu_ns_per_actor"] = {took.cpu_ns / spawned};
  return m;
}
measurement spawn_singly(sample_budget const&) {
  return spawn([](runtime& rt, std::vector<actor_ref<counter>>& actors) {
    for (auto& actor : actors) actor = rt.launch<counter>("");
  });
}
measurement spawn_at_once(sample_budget const&) {
  return spawn([](runtime& rt, std::vector<actor_ref<counter>>& actors) {
    std::ranges::copy(rt.launch_many<counter>(spawned), actors.begin());
  });
}

/// Idle for eight budgets: the processor time that the teams, which are parked by then, and the service thread use.
measurement idle(sample_budget const& budget) {
  auto const rt = start(with_teams(2));
  std::vector const actor{rt->launch<counter>("")};
  std::this_thread::sleep_for(budget.time);  // start-up does not count as idling
  auto m = processor_time_of_idling(budget.time * 8);
  check_equal("answer of the idle actor", std::uint64_t{2},
              expect("asking", actor.front().ask(number{2}, ask_options{}, block)).value);
  return m;
}

}  // namespace

case_list rondo_scale_cases() {
  return {{"spawn", "rondo", {{"actors", std::to_string(spawned)}}, spawn_singly},
          {"spawn", "rondo, launch_many", {{"actors", std::to_string(spawned)}}, spawn_at_once},
          {"idle", "rondo", {{"workers", "2"}}, idle}};
}

}  // namespace rondo::bench
