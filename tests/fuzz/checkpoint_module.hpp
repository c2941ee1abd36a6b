// The module whose checkpoints are fuzzed: the built-in one, as the host knows it.
#pragma once

#include "actors/basics/basics_module.hpp"
#include "runtime/base/module_info.hpp"

namespace rondo_fuzz {

inline std::vector<rondo::behaviour_info> checkpoint_module() {
  return rondo::module_describer<rondo::basics::basics_module>::describe();
}

}  // namespace rondo_fuzz
