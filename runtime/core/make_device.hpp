// Creation of the devices that a configuration requests.
#pragma once

#include <stdexcept>
#include <vector>

#include "runtime/device/cpu/cpu_device.hpp"
#include "runtime/device/emulated/emulated_device.hpp"
#include "runtime/device/program.hpp"
#include "runtime/player/kernel_player.hpp"

namespace rondo {

struct chosen_device {
  std::unique_ptr<device> dev;
  std::string reason;                       // why it was chosen, for human readers
  std::shared_ptr<kernel_player> player{};  // a GPU that plays kernels beside the device; null: none
};

/// The arena's sizes from the configuration, with zeros replaced by automatic values. Here and below, `place` is the
/// device's number in its runtime.
arena_shape shape_for(config const& c, std::uint32_t teams, std::uint32_t pinned_teams,
                      std::uint32_t place = 0);
team_thread_options thread_options_for(config const& c);
queue_device_options queue_options_for(config const& c);
/// Throws config_error for more lanes than a team of threads can have.
std::unique_ptr<emulated_device> make_emulated_device(emulated_program const& program, config const& c,
                                                      fault_plan const& faults = {}, std::uint32_t place = 0);
/// "cpu", with a GPU that plays kernels beside it; `player` null: none.
chosen_device make_cpu_device(program const& p, config const& c, std::string reason,
                              std::shared_ptr<kernel_player> player = nullptr, std::uint32_t place = 0);
/// "cuda" or "cuda:N", with the module of this key. Throws std::runtime_error if it is not available, with the reason
/// and what to do.
chosen_device make_cuda_device(config const& c, std::uint64_t module_key, std::uint32_t place);
/// The GPU of the device "opencl" or "opencl:NAME" (runtime/player/opencl_player.hpp). Throws std::runtime_error if it
/// is not available, with the reason and what to do.
std::shared_ptr<kernel_player> make_opencl_player(config const& c);
/// The GPU of the device "metal" (runtime/player/metal_player.hpp). Throws std::runtime_error if it is not available,
/// with the reason and what to do.
std::shared_ptr<kernel_player> make_metal_player(config const& c);
/// Empty if this machine may have a GPU with a driver of OpenCL; otherwise why `auto` does not ask for one. To ask
/// loads all drivers, of which pocl's takes long.
std::string why_no_opencl();
/// Empty if there is a GPU and the module was compiled for CUDA; otherwise why `auto` chooses the CPU.
std::string why_no_cuda(std::uint64_t module_key);
/// How an error calls the one device that `c` names: "device 'cuda' (RONDO_DEVICE)" if a variable set it.
std::string named_device(config const& c);
/// Throws std::runtime_error for a device that is unknown or not available.
[[noreturn]] void refuse_device(config const& c);

/// Where the GPUs come from that play kernels beside the device `cpu`. A test replaces some.
struct player_makers {
  std::shared_ptr<kernel_player> (*metal)(config const& c) = make_metal_player;
  std::shared_ptr<kernel_player> (*opencl)(config const& c) = make_opencl_player;
  std::string (*why_no_opencl)() = rondo::why_no_opencl;
};

/// The devices that `c.device` lists, in its order. Throws std::runtime_error if a requested device is not available.
/// `auto` is the first that there is of: `cuda`; `cpu` with a GPU by Metal, or by OpenCL, if the process has portable
/// kernels; and `cpu`. A processor of OpenCL plays only where it is named.
std::vector<chosen_device> make_devices(program const& p, config const& c, player_makers const& players = {});

}  // namespace rondo
