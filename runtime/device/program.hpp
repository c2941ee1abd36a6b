// A module at run time: its names, and its code for the `cpu` device. The code for other devices is found by the
// module's key (runtime/device/cuda/cuda_program.hpp, runtime/device/emulated/emulated_program.hpp).
//
// Threads: immutable; lives as long as the process.
#pragma once

#include "runtime/base/module_info.hpp"
#include "runtime/device/team_program.hpp"

namespace rondo {

// -- for the runtime

struct program {
  std::uint64_t key;
  std::vector<behaviour_info> behaviours;
  team_program teams;
};

template <class Module>
program const& program_of() {
  static program const p{Module::key, module_describer<Module>::describe(), team_program_of<Module>()};
  return p;
}

// -- for programs

/// The type of `use`.
template <class Module>
struct use_t {};
/// Names the module for a runtime to run.
template <class Module>
inline constexpr use_t<Module> use{};

}  // namespace rondo
