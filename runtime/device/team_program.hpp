// A module's code for the `cpu` device.
#pragma once

#include <memory>

#include "kernels/actor/launch.hpp"
#include "kernels/actor/ring_kernel.hpp"

namespace rondo {

/// A team that a program thread runs from time to time.
class guest_team {
 public:
  virtual ~guest_team() = default;
  /// As ring_kernel::drain.
  virtual std::uint64_t run(std::uint64_t limit_ns) = 0;
};

template <class Module>
class guest_team_of final : public guest_team {
 public:
  guest_team_of(arena_ref const& arena, std::uint32_t index, host_port const& host)
      : kernel_(arena, team{index}, host, {.park = false}) {}
  std::uint64_t run(std::uint64_t limit_ns) override { return kernel_.drain(limit_ns); }

 private:
  ring_kernel<Module> kernel_;
};

struct team_program {
  /// Runs the ring kernel as team `index`, round by round, until `ends(context)` returns true between two rounds.
  void (*run)(arena_ref const& arena, std::uint32_t index, host_port const& host, idle_policy idle,
              round_limits round, bool (*ends)(void* context), void* context);
  void (*launch)(scheduler& sender, launch_spec const& spec);
  std::unique_ptr<guest_team> (*make_guest)(arena_ref const& arena, std::uint32_t index,
                                            host_port const& host);
};

template <class Module>
team_program team_program_of() {
  return {
      [](arena_ref const& arena, std::uint32_t index, host_port const& host, idle_policy idle,
         round_limits round, bool (*ends)(void*), void* context) {
        ring_kernel<Module> kernel{arena, team{index}, host, idle};
        do kernel.run(round);
        while (!ends(context));
      },
      [](scheduler& sender, launch_spec const& spec) { launch_actor<Module>(sender, spec); },
      [](arena_ref const& arena, std::uint32_t index, host_port const& host) -> std::unique_ptr<guest_team> {
        return std::make_unique<guest_team_of<Module>>(arena, index, host);
      }};
}

}  // namespace rondo
