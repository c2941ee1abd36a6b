// The registry of modules compiled for the `emulated` device: each module's grid on host threads, by its key. Modules
// register at program start (emulated_module.hpp) and are looked up when a device is created.
//
// Threads: one thread registers before main; afterwards, lookups from any.
#pragma once

#include <vector>

#include "kernels/grid/grid.hpp"
#include "runtime/device/emulated/emulation.hpp"
#include "runtime/device/queue/doorbell.hpp"

namespace rondo {

struct emulated_program {
  std::uint64_t key;  // Module::key
  void (*run_worker)(grid<emulated_bus> const&, team const&, host_port const&);
  void (*run_io)(grid<emulated_bus> const&, host_port const&, doorbell&);
};

inline std::vector<emulated_program>& emulated_programs() {
  static std::vector<emulated_program> all;
  return all;
}

/// Throws std::runtime_error for a module that was not registered.
inline emulated_program const& find_emulated_program(std::uint64_t key) {
  for (auto const& p : emulated_programs())
    if (p.key == key) return p;
  throw std::runtime_error(
      "device 'emulated' was requested, but this module was not compiled for it: write "
      "RONDO_EMULATED_MODULE(name) in one of "
      "the program's sources (runtime/device/emulated/emulated_module.hpp)");
}

}  // namespace rondo
