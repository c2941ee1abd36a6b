// Rondo: asks from outside, and an urgent message.
#include <bit>

#include "bench/harness/sampling.hpp"
#include "bench/rondo_actors.hpp"
#include "bench/rondo_cases.hpp"

namespace rondo::bench {
namespace {

/// A blocking ask from a thread that is not an actor, on the other processor.
measurement ask_echo(sample_budget const& budget, config const& settings, bool pinned,
                     std::chrono::nanoseconds idle_before) {
  auto const rt = start(settings);
  auto const server = rt->launch<echo>("", {.pinned = pinned});
  seat(server, budget.cpus[1]);
  pin_to(budget.cpus[0]);
  return round_trips(
      budget,
      [&](std::uint64_t value) {
        return expect("asking", server.ask(number{value}, ask_options{}, block)).value;
      },
      idle_before);
}

template <class Message>
void tell(actor_ref<busy_worker> const& to, Message const& m, tell_options options = {}) {
  if (auto const refused = to.try_tell(m, options))
    throw std::runtime_error("the backlog: " + refused.message());
}

measurement urgent(sample_budget const& budget, std::uint64_t backlog, reserved_room reserve) {
  urgent_race race(backlog);
  auto settings = with_teams(1);
  settings.state_bytes = 256u << 20;
  auto const rt = start(settings);
  auto const busy = rt->launch<busy_worker>(
      "", {.capacity = static_cast<std::uint32_t>(std::bit_ceil(backlog)), .reserve = reserve});
  return race.run(
      budget, [&](std::uint64_t) { tell(busy, busy_worker::ordinary{&race}); },
      [&] { tell(busy, busy_worker::urgent{&race}, {.priority = 255}); });
}

}  // namespace

case_list rondo_ask_cases() {
  using namespace std::chrono_literals;
  auto const hot = [](bool pinned, bool polling) {
    return [=](sample_budget const& b) {
      auto settings = with_teams(1);
      settings.polling = polling;
      return ask_echo(b, settings, pinned, 0ms);
    };
  };
  auto const urgent_behind = [](std::uint64_t backlog, reserved_room reserve) {
    return [=](sample_budget const& b) { return urgent(b, backlog, reserve); };
  };
  auto const parked = [](bool pinned) {
    return [=](sample_budget const& b) { return ask_echo(b, with_teams(1), pinned, 1ms); };
  };
  return {{"ask_hot", "rondo pooled", {}, hot(false, false)},
          {"ask_hot", "rondo pooled, polling", {}, hot(false, true)},
          {"ask_hot", "rondo pinned", {}, hot(true, false)},
          {"ask_hot", "rondo pinned, polling", {}, hot(true, true)},
          {"ask_after_idle", "rondo pooled", {{"idle_ms", "1"}}, parked(false)},
          {"ask_after_idle", "rondo pinned", {{"idle_ms", "1"}}, parked(true)},
          {"urgent_behind_backlog", "rondo", urgent_race::parameters(),
           urgent_behind(urgent_race::usual_backlog, {})},
          {"urgent_behind_backlog", "rondo", urgent_race::parameters(500'000), urgent_behind(500'000, {})},
          {"urgent_behind_backlog", "rondo, reserved room", urgent_race::parameters(500'000),
           urgent_behind(500'000, {.slots = 16})}};
}

}  // namespace rondo::bench
