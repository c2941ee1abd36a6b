// The module of the fuzzed checkpoints: the host's description of the built-in module.
#pragma once

#include "actors/basics/basics_module.hpp"
#include "runtime/base/module_info.hpp"

namespace rondo_fuzz {

inline std::vector<rondo::behaviour_info> checkpoint_module() {
  return rondo::module_describer<rondo::basics::basics_module>::describe();
}

}  // namespace rondo_fuzz
