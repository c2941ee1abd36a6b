#include "runtime/core/make_device.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <thread>

#include "runtime/device/cuda/cuda_view.hpp"
#include "runtime/player/kernel_program.hpp"
#if defined(RONDO_HAS_METAL)
#include "runtime/player/metal_player.hpp"
#endif
#if defined(RONDO_HAS_OPENCL)
#include "runtime/player/opencl_player.hpp"
#endif

namespace rondo {

namespace {

std::uint32_t teams_for(config const& c) {
  return c.teams != 0 ? c.teams : std::max(1u, std::thread::hardware_concurrency());
}
idle_policy idle_policy_for(config const& c) {
  return {.spin_ns = std::uint64_t{c.spin_us} * 1000, .park = !c.polling};
}
round_limits round_limits_for(config const& c) {
  if (c.ring_mode == ring_mode::persistent) return {};
  return {c.round_messages, std::uint64_t{c.round_ms} * 1'000'000};
}

}  // namespace

chosen_device make_cpu_device(program const& p, config const& c, std::string reason,
                              std::shared_ptr<kernel_player> player, std::uint32_t place) {
  auto const threads = thread_options_for(c);
  auto const handlers = c.portable == "host"  ? portable_place::host
                        : c.portable == "gpu" ? portable_place::gpu
                                              : portable_place::cheaper;
  auto device = std::make_unique<cpu_device>(
      p.teams, shape_for(c, threads.teams, threads.pinned_teams + threads.guest_teams, place), threads,
      player, handlers);
  return {std::move(device), std::move(reason), std::move(player)};
}
team_thread_options thread_options_for(config const& c) {
  team_thread_options o;
  o.teams = teams_for(c);
  o.pinned_teams = c.pinned_teams != 0 ? c.pinned_teams : 16;  // the threads are started on demand
  o.guest_teams = c.guest_teams;
  o.idle = idle_policy_for(c);
  o.round = round_limits_for(c);
  o.pin_to_cores = c.pin_teams;
  return o;
}

queue_device_options queue_options_for(config const& c) {
  queue_device_options o;
  o.teams = teams_for(c);
  o.pinned_teams = c.pinned_teams != 0 ? c.pinned_teams : 4;
  o.idle = idle_policy_for(c);
  o.nap_ns = std::uint64_t{c.poll_us} * 1000;
  o.round = round_limits_for(c);
  o.submission_slots = c.submission_slots;
  o.completion_slots = c.completion_slots;
  o.buffer_bytes = c.buffer_bytes_cap;
  o.buffer_slots = c.buffer_slots;
  o.pinned_bytes = c.pinned_bytes;
  return o;
}

std::unique_ptr<emulated_device> make_emulated_device(emulated_program const& program, config const& c,
                                                      fault_plan const& faults, std::uint32_t place) {
  if (c.lanes > max_lanes)
    throw config_error(setting_name(c, "lanes") + ": a team of the emulated device has at most " +
                       std::to_string(max_lanes) + " lanes, not " + std::to_string(c.lanes));
  auto const options = queue_options_for(c);
  auto emulation = emulation_options_for(c);
  emulation.faults = faults;
  return std::make_unique<emulated_device>(program, shape_for(c, options.teams, options.pinned_teams, place),
                                           options, c.lanes != 0 ? c.lanes : 4, emulation);
}

arena_shape shape_for(config const& c, std::uint32_t teams, std::uint32_t pinned_teams, std::uint32_t place) {
  arena_shape s;
  s.first_actor = place << device_shift;
  s.actors = c.actors;
  // The default is one ring per actor, plus one per team, because each team may keep one for itself.
  s.rings = c.mail_blocks != 0 ? c.mail_blocks : std::min(c.actors + teams + pinned_teams, 16384u);
  if (std::uint64_t{s.actors} + s.rings >= 1u << 20)  // limit of the `ring` field in an actor's word
    throw config_error(setting_name(c, c.mail_blocks != 0 ? "mail_blocks" : "actors") +
                       ": actors and mail_blocks together must stay below 1048576");
  // A pinned team that never parks keeps its actor's ring.
  if (c.mail_blocks != 0 && c.polling && c.mail_blocks <= pinned_teams)
    throw config_error(setting_name(c, "mail_blocks") + ": " + std::to_string(c.mail_blocks) +
                       " shared mail rings may leave none for other actors, because the " +
                       std::to_string(pinned_teams) + " pinned teams poll, and keep one each: set at least " +
                       std::to_string(pinned_teams + 1));
  s.ring_slots = std::max(2u, ceil_power_of_two(std::min(c.default_capacity, 1024u)));
  s.teams = teams + pinned_teams;
  s.quota = c.quota;
  s.starvation_limit = c.starvation_limit;
  s.latency_sample_every = c.latency_sample_every;
  s.handler_limit_ms = c.handler_limit_ms;
  s.log_level = c.log_level;
  // States of up to 256 bytes for all actors, and room for some large mailboxes; untouched pages cost
  // nothing.
  s.heap_bytes =
      c.state_bytes != 0 ? c.state_bytes : std::uint64_t{c.actors} * 256 + (std::uint64_t{256} << 20);
  return s;
}

namespace {

/// For `auto`, where there is no `cuda`. Null: there is none, which `reason` says.
std::shared_ptr<kernel_player> find_player(config const& c, player_makers const& players,
                                           std::string& reason) {
  if (all_kernels().empty() || c.share_buffers)
    return nullptr;  // it would have nothing to play, or is refused
  auto const found = [&](auto make) -> std::shared_ptr<kernel_player> {
    try {
      return make(c);
    } catch (std::runtime_error const& e) {
      reason += std::string("; ") + e.what();
      return nullptr;
    }
  };
  auto player = found(players.metal);
  if (!player) {
    if (auto const why = players.why_no_opencl(); !why.empty())
      reason += "; " + why;
    else
      player = found(players.opencl);
  }
  if (player) reason += "; kernels play on " + player->description();
  return player;
}

/// Precondition: `c.device` names one device.
chosen_device make_device(program const& p, config const& c, std::uint32_t place,
                          player_makers const& players) {
  if (c.device == "emulated")
    return {make_emulated_device(find_emulated_program(p.key), c, {}, place),
            "requested by the configuration"};
  if (c.device.starts_with("cuda")) return make_cuda_device(c, p.key, place);
  std::shared_ptr<kernel_player> player;
  std::string reason = "requested by the configuration";
  if (c.device == "auto") {
    reason = why_no_cuda(p.key);
    if (reason.empty()) return make_cuda_device(c, p.key, place);
    reason = "chosen by auto: " + reason;
    player = find_player(c, players, reason);
  } else if (c.device == "metal") {
    player = players.metal(c);
  } else if (c.device == "opencl" || c.device.starts_with("opencl:")) {
    player = players.opencl(c);
  } else if (c.device != "cpu") {
    refuse_device(c);
  }
  return make_cpu_device(p, c, std::move(reason), std::move(player), place);
}

}  // namespace

std::vector<chosen_device> make_devices(program const& p, config const& c, player_makers const& players) {
  std::vector<chosen_device> all;
  std::stringstream names(c.device);
  for (auto one = c; std::getline(names, one.device, ',');) {
    if (all.size() == max_devices)
      throw config_error(setting_name(c, "device") + ": a runtime has at most " +
                         std::to_string(max_devices) + " devices");
    all.push_back(make_device(p, one, static_cast<std::uint32_t>(all.size()), players));
  }
  return all;
}

#if defined(RONDO_HAS_OPENCL)
std::shared_ptr<kernel_player> make_opencl_player(config const& c) try {
  auto const name = c.device.starts_with("opencl:") ? c.device.substr(7) : std::string();
  return std::make_shared<opencl_player>(all_kernels(), name);
} catch (std::runtime_error const& e) {
  throw std::runtime_error(c.device == "auto" ? e.what()
                                              : named_device(c) + " is not available: " + e.what());
}
#else
std::shared_ptr<kernel_player> make_opencl_player(config const& c) {
  throw std::runtime_error(
      named_device(c) +
      " was requested, but this build has no OpenCL: build with clang and OpenCL's headers, or "
      "choose the device cpu or auto");
}
#endif

std::string why_no_opencl() {
#if defined(__linux__)
  std::error_code ignored;
  for (auto const* const file :
       {"/dev/dri", "/dev/kfd", "/dev/nvidiactl", "/dev/mali0", "/dev/kgsl-3d0", "/dev/dxg"})
    if (std::filesystem::exists(file, ignored)) return {};
  return "there is no GPU for OpenCL (no /dev/dri, for example)";
#else
  return {};
#endif
}

#if defined(RONDO_HAS_METAL)
std::shared_ptr<kernel_player> make_metal_player(config const& c) try {
  return std::make_shared<metal_player>(all_kernels());
} catch (std::runtime_error const& e) {
  throw std::runtime_error(named_device(c) + " is not available: " + e.what() + "; use opencl or cpu");
}
#else
std::shared_ptr<kernel_player> make_metal_player(config const& c) {
#if defined(__linux__)
  std::string const here = "this is Linux";
#else
  std::string const here = "this build has no Metal";
#endif
  throw std::runtime_error((c.device == "auto" ? "Metal" : named_device(c)) +
                           " needs macOS with an Apple GPU; " + here +
                           (c.device == "auto" ? "" : ": use opencl or cpu"));
}
#endif

#if !defined(RONDO_HAS_CUDA)
chosen_device make_cuda_device(config const& c, std::uint64_t, std::uint32_t) {
  throw std::runtime_error(
      named_device(c) +
      " was requested, but this build has no CUDA device: build with the CUDA toolkit "
      "(nvcc in CUDACXX, PATH, or /usr/local/cuda/bin), or choose the device cpu or auto");
}
device_opener cuda_opener(int) { return {}; }
std::string why_no_cuda(std::uint64_t) { return "this build has no CUDA device"; }
#endif

std::string named_device(config const& c) {
  auto const setting = setting_name(c, "device");
  return "device '" + c.device + "'" + (setting == "device" ? "" : " (" + setting + ")");
}

void refuse_device(config const& c) {
  if (c.device == "none")
    throw config_error(named_device(c) + " is refused: actors run on a device; for no GPU, choose cpu");
  throw config_error(named_device(c) +
                     " is unknown: use auto, cpu, emulated, cuda, cuda:N, opencl, opencl:NAME, or metal, or "
                     "several separated by commas");
}

}  // namespace rondo
