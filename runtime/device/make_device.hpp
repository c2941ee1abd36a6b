// Chooses and builds the device that a configuration asks for.
#pragma once

#include <stdexcept>

#include "runtime/device/cpu_device.hpp"
#include "runtime/device/emulated_device.hpp"

namespace rondo {

struct chosen_device {
  std::unique_ptr<device> dev;
  std::string reason;  // why this one, for people
};

/// What the arena is sized for, from the configuration; zeros there are resolved here.
arena_shape shape_for(config const& c, std::uint32_t teams, std::uint32_t pinned_teams);
team_thread_options thread_options_for(config const& c);
/// Throws std::runtime_error for a device that is not to be had: which, why, what to do.
[[noreturn]] void refuse_device(std::string const& name);

/// Throws std::runtime_error when the device that `c.device` forces is not there.
template <class Module>
chosen_device make_device(config const& c) {
  auto const threads = thread_options_for(c);
  auto const shape = shape_for(c, threads.teams, threads.pinned_teams);
  if (c.device == "cpu")
    return {std::make_unique<cpu_device<Module>>(shape, threads), "asked for by the configuration"};
  if (c.device == "auto")
    return {std::make_unique<cpu_device<Module>>(shape, threads),
            "chosen by auto: this build has no GPU device, and the CPU needs nothing"};
  if (c.device == "emulated")
    return {std::make_unique<emulated_device<Module>>(shape, threads, emulation_options_for(c)),
            "asked for by the configuration"};
  refuse_device(c.device);
}

}  // namespace rondo
