// A module as the runtime needs it at run time: its names, and its code for each kind of host device. What it has for a
// GPU is found by its key (runtime/device/cuda/cuda_program.hpp).
//
// Threads: immutable, and there for as long as the process.
#pragma once

#include "runtime/base/module_info.hpp"
#include "runtime/device/team_program.hpp"

namespace rondo {

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

template <class Module>
struct use_t {};
/// Names the module that a runtime runs.
template <class Module>
inline constexpr use_t<Module> use{};

}  // namespace rondo
