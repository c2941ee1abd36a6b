// OpenCL with functions that a test replaces.
#pragma once

#include "runtime/player/opencl_player.hpp"

namespace rondo::test {

opencl_api opencl_with(auto const& change) {
  auto api = load_opencl();
  change(api);
  return api;
}

/// pocl as a device that shares no memory.
opencl_api const& opencl_without_shared_memory();
/// pocl as a device that takes SPIR-V alone. `with_spirv`: whether it takes that.
opencl_api const& opencl_without_bitcode(bool with_spirv);
/// pocl as a GPU.
opencl_api const& opencl_with_gpu();

}  // namespace rondo::test
