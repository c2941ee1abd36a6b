// Buffers in the memory of a queue_device: the host's end of their table, and their copies.
//
// Threads: any.
#pragma once

#include "runtime/device/queue/host_queues.hpp"
#include "runtime/memory/buffer_home.hpp"
#include "runtime/memory/region_resource.hpp"

namespace rondo {

/// `Machine`: see queue_device.hpp, which owns both objects that this refers to.
template <class Machine>
class queue_buffers final : public buffer_home {
  using queues = host_queues<typename Machine::bus>;

 public:
  /// Allocates memory of the machine; must precede its first launch. `number`: see buffer_home_shift. Throws as the
  /// machine does.
  queue_buffers(Machine& machine, queues& way, std::uint64_t bytes, std::uint32_t slots,
                std::uint64_t pinned_bytes, std::uint32_t number)
      : machine_(machine),
        way_(way),
        bytes_(bytes),
        slots_(slots),
        pinned_bytes_(pinned_bytes),
        base_(machine.buffer_memory(bytes)),
        pinned_(pinned_bytes != 0 ? machine.pinned_memory(pinned_bytes) : nullptr, pinned_bytes) {
    auto* const entries =
        reinterpret_cast<buffer_entry*>(machine.device_memory(slots * sizeof(buffer_entry)));
    table_ = {entries, slots,
              reinterpret_cast<atomic<std::uint32_t, scope::system>*>(machine.device_memory(64)), number};
  }

  /// The table for the device's handlers.
  buffer_table_ref table() const noexcept { return table_; }

  std::byte* base() const noexcept override { return base_; }
  std::uint64_t bytes() const noexcept override { return bytes_; }
  std::uint32_t slots() const noexcept override { return slots_; }
  errc open(buffer_ref ref, std::byte* at) noexcept override {
    return way_.order(submission_kind::open_buffer, {ref, reinterpret_cast<std::uintptr_t>(at)});
  }
  errc close(buffer_ref ref) noexcept override { return way_.order(submission_kind::close_buffer, {ref, 0}); }
  void collect() noexcept override { way_.order(submission_kind::close_buffer, {}); }  // closes none
  bool copy(std::span<copy_job const> jobs) override { return machine_.copy(jobs); }
  std::pmr::memory_resource& host_memory() noexcept override { return pinned_; }
  std::uint64_t host_memory_bytes() const noexcept override { return pinned_bytes_; }
  std::optional<device_share> share() noexcept override { return machine_.share(); }
  bool mark_ready() override { return machine_.mark_ready(); }

 private:
  Machine& machine_;
  queues& way_;
  std::uint64_t bytes_;
  std::uint32_t slots_;
  std::uint64_t pinned_bytes_;
  std::byte* base_;
  region_resource pinned_;
  buffer_table_ref table_;
};

}  // namespace rondo
