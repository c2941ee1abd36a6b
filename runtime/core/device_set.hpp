// The devices of one runtime, each with its messenger, buffer pools, and counters.
//
// Threads: the set is immutable; for its devices, see runtime/device/device.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/make_device.hpp"
#include "runtime/memory/buffer_pool.hpp"
#include "runtime/memory/region_resource.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/messaging/messenger.hpp"

namespace rondo {

struct hosted_device {
  std::unique_ptr<device> dev;
  std::string reason;  // why it was chosen
  std::shared_ptr<kernel_player> player{};
  std::unique_ptr<messenger> mail{};
  std::unique_ptr<region_resource> region{};  // the device's memory, for `buffers`
  std::unique_ptr<buffer_pool> buffers{};     // null: its actors lease the host's buffers
  std::unique_ptr<buffer_pool> pinned{};      // pinned host memory, for copies; null: none
  std::unique_ptr<memory_pair::counters> transfers = std::make_unique<memory_pair::counters>();

  /// Errors: see device::launch.
  errc launch(launch_spec const& spec, launch_arguments const& with = {}) {
    mail->note_launch(spec.id, spec.reserve);
    return dev->launch(spec, with);
  }
  /// As device::launch_many.
  std::size_t launch_many(std::span<launch_spec const> specs, device::arguments_of const& with) {
    for (auto const& spec : specs) mail->note_launch(spec.id, spec.reserve);
    return dev->launch_many(specs, with);
  }
};

/// The launch arguments `given` of an actor of this behaviour; as many bytes as it takes.
inline launch_arguments arguments_for(launch_spec const& spec, behaviour_info const& b,
                                      std::span<std::byte const> given) {
  launch_arguments a{spec.state_offset + b.arguments_at, static_cast<std::uint32_t>(given.size()), {}};
  std::ranges::copy(given, a.bytes);
  return a;
}

class device_set {
 public:
  /// The caller must create the messengers.
  explicit device_set(std::vector<chosen_device> chosen);

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(all_.size()); }
  auto begin() noexcept { return all_.begin(); }
  auto end() noexcept { return all_.end(); }
  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }
  /// By device number, as in device_of an actor's id.
  hosted_device& operator[](std::uint32_t place) noexcept { return all_[place]; }
  hosted_device const& operator[](std::uint32_t place) const noexcept { return all_[place]; }
  bool has_device_of(actor_id actor) const noexcept { return device_of(actor) < size(); }
  /// Precondition: has_device_of(actor).
  hosted_device& home_of(actor_id actor) noexcept { return all_[device_of(actor)]; }
  messenger& mail_of(actor_id actor) const noexcept { return *all_[device_of(actor)].mail; }
  /// False for a captured actor on a device that does not run on host threads, because host teams replay graphs.
  bool can_host(behaviour_info const& b, std::uint32_t place) const noexcept {
    return !b.is_captured || all_[place].dev->mail().is_near();
  }

  /// device::at_safepoint for all devices at once. `use` gets the arena of each.
  bool at_safepoint(std::chrono::nanoseconds limit, arena_access access,
                    std::function<void(std::vector<arena_ref> const&)> const& use);
  /// device::upgrade for all devices or for none. `heap_end` is called for each device.
  bool upgrade(std::chrono::nanoseconds limit, program const& next,
               std::function<std::uint64_t(std::uint32_t place)> const& heap_end,
               std::function<void(arena_ref const&)> const& use);

 private:
  bool upgrade_from(std::uint32_t first, std::chrono::nanoseconds limit, program const& next,
                    std::function<std::uint64_t(std::uint32_t)> const& heap_end,
                    std::function<void(arena_ref const&)> const& use);

  std::vector<hosted_device> all_;  // at least one
};

}  // namespace rondo
