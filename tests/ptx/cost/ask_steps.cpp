#include "tests/ptx/cost/ask_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "tests/ptx/cost/bed.hpp"

namespace ptx_cost {

namespace {

using rondo::bench::gpu::step_ping;
using rondo::bench::gpu::step_pong;

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

}  // namespace

std::string ask_steps_summary::text() const {
  std::string line;
  double device_ns = 0;
  for (std::size_t n = 0; n < step_ns.size(); ++n) {
    line += fmt::format("{} {:.0f}, ", step_pong::step_names[n], step_ns[n]);
    device_ns += step_ns[n];
  }
  return line + fmt::format("bus and host {:.0f}, of {:.0f}", whole_ns - device_ns, whole_ns);
}

ask_steps_summary predict_ask_steps(ptx::module const& code, costs const& c, std::uint32_t samples,
                                    std::uint64_t seed) {
  bed b(code, {.pinned_teams = 1, .seed = seed}, c);  // another team would pass its own points
  auto const to = b.launch(0, true);
  std::array<std::vector<double>, step_pong::steps> steps;
  std::vector<double> whole;
  // The first answer tells of no ask before it, and the second of one that found a mailbox without a ring.
  for (std::uint64_t n = 0; n < samples + 2; ++n) {
    b.think();
    b.grid().forget_logs();
    auto const began = b.ask(to, step_ping{n});
    rondo::device_event event;
    auto const seen = b.wait_for_event(event);
    step_pong pong;
    std::memcpy(&pong, event.body.payload, sizeof pong);
    if (event.kind != rondo::event_kind::reply || pong.number != n + 1)
      throw std::runtime_error("the grid gave a wrong answer to an ask that takes the time of its steps");
    if (n < 2) continue;
    whole.push_back(static_cast<double>(seen.ps - began) / 1e3);
    for (std::uint32_t i = 0; i < step_pong::steps; ++i) {
      auto const cycles = pong.cycles_of(i);
      if (cycles == 0 || cycles > 100'000)
        throw std::runtime_error(
            fmt::format("the step '{}' of ask {} took {} cycles: its points were not passed in "
                        "order",
                        step_pong::step_names[i], n - 1, static_cast<std::int32_t>(cycles)));
      steps[i].push_back(cycles * b.grid().cycle_ps() / 1e3);
    }
  }
  ask_steps_summary s{.whole_ns = median(whole)};
  for (std::size_t i = 0; i < steps.size(); ++i) s.step_ns[i] = median(steps[i]);
  return s;
}

}  // namespace ptx_cost
