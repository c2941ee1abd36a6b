// Buffers in the memory of a lane_device: the host's end of their table, and copies.
//
// Threads: any.
#pragma once

#include "runtime/device/host_lanes.hpp"
#include "runtime/memory/buffer_home.hpp"

namespace rondo {

/// `Machine` as in lane_device.hpp, which owns both of what this refers to.
template <class Machine>
class lane_buffers final : public buffer_home {
  using lanes = host_lanes<typename Machine::bus>;

 public:
  /// Claims memory of the machine; before its first launch. `number`: see buffer_home_shift. Throws what the machine throws.
  lane_buffers(Machine& machine, lanes& way, std::uint64_t bytes, std::uint32_t number)
      : machine_(machine), way_(way), bytes_(bytes), base_(machine.device_memory(bytes)) {
    auto* const entries =
        reinterpret_cast<buffer_entry*>(machine.device_memory(slot_count * sizeof(buffer_entry)));
    table_ = {entries, slot_count,
              reinterpret_cast<atomic<std::uint32_t, scope::system>*>(machine.device_memory(64)), number};
  }

  /// For the device's handlers.
  buffer_table_ref table() const noexcept { return table_; }

  std::byte* base() const noexcept override { return base_; }
  std::uint64_t bytes() const noexcept override { return bytes_; }
  std::uint32_t slots() const noexcept override { return slot_count; }
  errc open(buffer_ref ref, std::byte* at) noexcept override {
    return way_.order(submission_kind::open_buffer, {ref, reinterpret_cast<std::uintptr_t>(at)});
  }
  errc close(buffer_ref ref) noexcept override { return way_.order(submission_kind::close_buffer, {ref, 0}); }
  void collect() noexcept override { way_.order(submission_kind::close_buffer, {}); }  // which closes none
  bool copy_in(std::byte* to, std::byte const* from, std::uint64_t bytes) override {
    return machine_.copy_in(to, from, bytes);
  }
  bool copy_out(std::byte* to, std::byte const* from, std::uint64_t bytes) override {
    return machine_.copy_out(to, from, bytes);
  }

 private:
  static constexpr std::uint32_t slot_count = 4096;

  Machine& machine_;
  lanes& way_;
  std::uint64_t bytes_;
  std::byte* base_;
  buffer_table_ref table_;
};

}  // namespace rondo
