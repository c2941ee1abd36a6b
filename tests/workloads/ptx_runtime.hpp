// A runtime on the device ptx, which executes what nvcc made of the workloads.
#pragma once

#include <memory>

#include "runtime/runtime.hpp"
#include "tests/ptx/ptx_machine.hpp"
#include "tools/workloads_module/workloads_module.hpp"

namespace workloads_test {

inline std::unique_ptr<rondo::runtime> start_ptx() {
  using used = rondo::tools::workloads_module;
  rondo::config settings;
  settings.device = "ptx";
  settings.teams = 2;
  std::vector<rondo::chosen_device> chosen;
  chosen.push_back(rondo::make_ptx_device({{used::key, RONDO_PTX_WORKLOADS}}, settings));
  settings.device = "emulated";  // whose settings it has
  return std::make_unique<rondo::runtime>(rondo::use<used>, settings, std::move(chosen));
}

}  // namespace workloads_test
