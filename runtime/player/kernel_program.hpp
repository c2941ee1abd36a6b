// Portable kernels, compiled for players, and the programs that this process has.
#pragma once

#include <span>
#include <vector>

namespace rondo {

struct kernel_program {
  char const* name = "";                   // for errors
  std::span<unsigned char const> spir{};   // LLVM bitcode
  std::span<unsigned char const> spirv{};  // SPIR-V; empty where it was built without llvm-spirv
  char const* metal = "";                  // a text in Metal's language
};

// -- for the runtime

/// While the process starts.
void add_kernels(kernel_program const& program);
template <class... Programs>
bool add_all_kernels(Programs const&... programs) {
  return (add_kernels(programs), ...), true;
}
/// All that were added.
std::vector<kernel_program const*> const& all_kernels() noexcept;

// -- for programs

/// Names programs whose kernels the players of this process are to have: RONDO_KERNELS(rondo::video::pixel_kernels,
/// rondo::video::overlay_kernels). Once in a process, at namespace scope.
#define RONDO_KERNELS(...) \
  [[maybe_unused]] static bool const rondo_kernels_are_added = ::rondo::add_all_kernels(__VA_ARGS__);

}  // namespace rondo
