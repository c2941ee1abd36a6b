// Chooses and builds the device that a configuration asks for.
#pragma once

#include <stdexcept>

#include "runtime/device/cpu_device.hpp"
#include "runtime/device/emulated_device.hpp"
#include "runtime/program.hpp"

namespace rondo {

struct chosen_device {
  std::unique_ptr<device> dev;
  std::string reason;  // why this one, for people
};

/// What the arena is sized for, from the configuration; zeros there are resolved here.
arena_shape shape_for(config const& c, std::uint32_t teams, std::uint32_t pinned_teams);
team_thread_options thread_options_for(config const& c);
lane_device_options lane_options_for(config const& c);
/// Throws config_error for more lanes than a team of threads can have.
std::unique_ptr<emulated_device> make_emulated_device(emulated_program const& program, config const& c,
                                                      fault_plan const& faults = {});
/// "cuda" or "cuda:N", with the module of this key. Throws std::runtime_error when it is not to be had: why, what to do.
chosen_device make_cuda_device(config const& c, std::uint64_t module_key);
/// Empty when there is a GPU, and the module was compiled for CUDA; else why `auto` takes the CPU.
std::string why_no_cuda(std::uint64_t module_key);
/// Throws std::runtime_error for a device that is unknown, or not there.
[[noreturn]] void refuse_device(std::string const& name);

/// Throws std::runtime_error when the device that `c.device` forces is not there.
chosen_device make_device(program const& p, config const& c);

}  // namespace rondo
