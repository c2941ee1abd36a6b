// CAF: asks from outside, and an urgent message.
#include "bench/harness/sampling.hpp"
#include "bench/peers/caf_cases.hpp"
#include "bench/peers/caf_system.hpp"
#include "bench/peers/urgent.hpp"

namespace rondo::bench {
namespace {

caf::behavior echo() {
  return {[](std::uint64_t value) { return value + 1; }};
}

/// A blocking request from a thread that is not an actor.
measurement ask(sample_budget const& budget, std::chrono::nanoseconds idle_before) {
  caf_system caf(2);
  auto const server = caf.spawn(echo);
  caf::scoped_actor self{caf.system()};
  auto const request = [&](std::uint64_t value) {
    std::uint64_t reply = 0;
    self->request(server, caf::infinite, value)
        .receive([&](std::uint64_t found) { reply = found; },
                 [&](caf::error const& error) { throw std::runtime_error("caf: " + to_string(error)); });
    return reply;
  };
  return round_trips(budget, request, idle_before);
}

caf::behavior worker(caf::event_based_actor*, urgent_race* race) {
  return {[=](std::uint64_t) { race->handle_ordinary(); }, [=](urgent_atom) { race->handle_urgent(); }};
}

measurement urgent(sample_budget const& budget) {
  urgent_race race;
  caf_system caf(1);
  auto const busy = caf.spawn(worker, &race);
  return race.run(
      budget, [&](std::uint64_t i) { caf::anon_send(busy, i); },
      [&] { caf::anon_send<caf::message_priority::high>(busy, urgent_atom::value); });
}

}  // namespace

case_list caf_latency_cases() {
  using namespace std::chrono_literals;
  return {{"ask_hot", "caf pooled", {}, [](sample_budget const& b) { return ask(b, 0ms); }},
          {"ask_after_idle",
           "caf pooled",
           {{"idle_ms", "1"}},
           [](sample_budget const& b) { return ask(b, 1ms); }},
          {"urgent_behind_backlog", "caf pooled", urgent_race::parameters(), urgent}};
}

}  // namespace rondo::bench
