// A module as the device `cpu` runs it.
#pragma once

#include "kernels/launch.hpp"
#include "kernels/ring_kernel.hpp"

namespace rondo {

struct team_program {
  /// Runs the ring kernel as team `index`, round by round, until `ends(context)` says so between two of them.
  void (*run)(arena_ref const& arena, std::uint32_t index, host_port const& host, idle_policy idle,
              round_limits round, bool (*ends)(void* context), void* context);
  void (*launch)(scheduler& sender, launch_spec const& spec);
};

template <class Module>
team_program team_program_of() {
  return {[](arena_ref const& arena, std::uint32_t index, host_port const& host, idle_policy idle,
             round_limits round, bool (*ends)(void*), void* context) {
            ring_kernel<Module> kernel{arena, team{index}, host, idle};
            do kernel.run(round);
            while (!ends(context));
          },
          [](scheduler& sender, launch_spec const& spec) { launch_actor<Module>(sender, spec); }};
}

}  // namespace rondo
