#include "bench/gpu/ask_steps.hpp"

#include "bench/gpu/bed.hpp"
#include "bench/gpu/cases.hpp"
#include "bench/harness/sampling.hpp"

namespace rondo::bench::gpu {
namespace {

measurement steps(sample_budget const& budget) {
  return with_runtime<ask_steps>(settings_for(1, 1), [&](runtime& rt) {
    auto const server = rt.launch<stepper>("", actor_options{.pinned = true});
    std::vector<step_pong> pongs;
    auto const first_ns = now_ns();
    auto m = round_trips(budget, [&](std::uint64_t number) {
      pongs.push_back(expect("asking", server.ask(step_ping{number}, ask_options{}, block)));
      return pongs.back().number;
    });
    auto const last_ns = now_ns();
    if (pongs.size() < 1000) throw std::runtime_error("fewer than 1000 asks were answered");
    // The clock's rate, from what both ends know of the first and the last ask; its 32 bits wrap after two seconds.
    if (last_ns - first_ns > 2'000'000'000)
      throw std::runtime_error("the sample is too long for the device's clock");
    auto const cycles = static_cast<std::uint32_t>(pongs.back().begins - pongs[1].begins);
    double const ns = static_cast<double>(last_ns - first_ns) / cycles;
    // As many as round trips, which leave out the first ones.
    auto const skipped = pongs.size() - m["round_trip_ns"].size();
    for (std::uint32_t s = 0; s < step_pong::steps; ++s) {
      auto& of_step = m[std::string(step_pong::step_names[s]) + "_ns"];
      for (auto n = std::max<std::size_t>(skipped, 2); n < pongs.size(); ++n)
        of_step.push_back(pongs[n].cycles_of(s) * ns);
    }
    return m;
  });
}

}  // namespace

case_list ask_steps_cases() {
  return {{"gpu_ask_steps", "rondo pinned", {}, [](sample_budget const& b) { return steps(b); }}};
}

}  // namespace rondo::bench::gpu
