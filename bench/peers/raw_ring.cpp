// A token through a run queue on one thread.
#include <deque>

#include "bench/harness/sampling.hpp"
#include "bench/peers/raw_queues.hpp"

namespace rondo::bench {
namespace {

constexpr std::uint32_t ring_size = 1000;

/// An actor reduced to the minimum that can be scheduled: its mail, and the actor that it passes the token to.
struct bare_actor {
  std::uint64_t mail = 0;
  std::uint64_t handled = 0;
  std::uint32_t next = 0;
};

measurement bare_run_queue(sample_budget const& budget) {
  pin_to(budget.cpus[0]);
  std::vector<bare_actor> actors(ring_size);
  for (std::uint32_t i = 0; i < ring_size; ++i) actors[i].next = (i + 1) % ring_size;
  return throughput(budget, "hops_per_s", 1, [&](std::uint64_t hops) {
    for (auto& actor : actors) actor.handled = 0;
    std::deque<std::uint32_t> ready{0};
    actors[0].mail = hops;
    stopwatch const watch;
    while (!ready.empty()) {
      bare_actor& actor = actors[ready.front()];
      ready.pop_front();
      ++actor.handled;
      if (actor.mail == 1) break;
      actors[actor.next].mail = actor.mail - 1;
      ready.push_back(actor.next);
    }
    timing const took = watch.stop();
    std::uint64_t handled = 0;
    for (auto const& actor : actors) handled += actor.handled;
    check_equal("hops handled", hops, handled);
    return took;
  });
}

}  // namespace

case_list raw_ring_cases() {
  return {{"ring", "bare run queue", {{"actors", "1000"}}, bare_run_queue, true}};
}

case_list raw_cases() {
  case_list cases;
  for (auto* part : {raw_ping_pong_cases, raw_fan_in_cases, raw_ask_cases, raw_ring_cases})
    append(cases, part());
  return cases;
}

case_list raw_anchors() {
  case_list anchors;
  for (auto& one : raw_cases())
    if (one.anchor) anchors.push_back(std::move(one));
  return anchors;
}

}  // namespace rondo::bench
