// A module's code for the `cpu` device.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kernels/actor/launch.hpp"
#include "kernels/actor/ring_kernel.hpp"

namespace rondo {

/// A team that a program thread runs from time to time, as ring_kernel::drain; empty: none.
using guest_team = std::function<std::uint64_t(std::uint64_t limit_ns)>;

struct team_program {
  /// Runs the ring kernel as team `index`, round by round, until `ends` returns true between two rounds.
  void (*run)(arena_ref const& arena, std::uint32_t index, host_port const& host, idle_policy idle,
              round_limits round, std::function<bool()> const& ends);
  void (*launch)(scheduler& sender, launch_spec const& spec);
  guest_team (*make_guest)(arena_ref const& arena, std::uint32_t index, host_port const& host);
  std::vector<packed_behaviour const*> (*portable)();  // by the behaviour's place; null: it is not portable
};

template <class Module>
team_program team_program_of() {
  return {[](arena_ref const& arena, std::uint32_t index, host_port const& host, idle_policy idle,
             round_limits round, std::function<bool()> const& ends) {
            ring_kernel<Module> kernel{arena, team{index}, host, idle};
            do kernel.run(round);
            while (!ends());
            kernel.end_packs();
          },
          [](scheduler& sender, launch_spec const& spec) { launch_actor<Module>(sender, spec); },
          [](arena_ref const& arena, std::uint32_t index, host_port const& host) -> guest_team {
            auto const kernel =
                std::make_shared<ring_kernel<Module>>(arena, team{index}, host, idle_policy{.park = false});
            return [kernel](std::uint64_t limit_ns) { return kernel->drain(limit_ns); };
          },
          [] {
            std::vector<packed_behaviour const*> all(Module::size);
            for (std::uint16_t b = 0; b < Module::size; ++b) all[b] = Module::packed(b);
            return all;
          }};
}

}  // namespace rondo
