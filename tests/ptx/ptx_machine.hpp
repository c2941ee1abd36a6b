// The machine of a `ptx` device, for tests: it executes the PTX that nvcc made of a module's ring kernel, with one
// thread per warp, behind Rondo's own host side. Everything but the GPU itself is as on the device `cuda`.
//
// Threads: as in queue_device.hpp.
#pragma once

#include <list>
#include <map>

#include "runtime/core/make_device.hpp"
#include "runtime/device/cuda/cuda_program.hpp"
#include "runtime/graph/call_list.hpp"
#include "tests/ptx/machine/ptx_grid.hpp"

namespace rondo {

/// The PTX file of a module, compiled from a .cu file with RONDO_CUDA_MODULE.
struct ptx_program {
  std::uint64_t key = 0;  // Module::key, as the host's compiler has it
  std::string path;
};

struct ptx_fit {
  std::uint32_t lanes = warp_size, teams = 1, pinned_teams = 1;
  std::uint32_t blocks() const noexcept { return 1 + (teams + pinned_teams + per_block() - 1) / per_block(); }
  std::uint32_t block_threads() const noexcept { return per_block() * lanes; }

 private:
  std::uint32_t per_block() const noexcept { return lanes == warp_size ? warp_teams_per_block : 1; }
};

struct ptx_device_options {
  ptx::grid_options grid;
  std::vector<ptx::memory_range>
      reachable;  // memory of the process that handlers access besides the device's own
};

/// Modules are read once, and shared, with their variables, by all machines of a process: as on a GPU.
ptx::module const& read_shared_module(std::string const& path);

class ptx_machine {
 public:
  using bus = prompt_bus;
  static constexpr bool rings = false;

  /// `programs`: that of the device first, then those that it can be upgraded to. Throws std::runtime_error if the PTX
  /// is of another module.
  ptx_machine(std::vector<ptx_program> programs, ptx_fit const& fit, ptx_device_options const& options);

  std::byte* device_memory(std::size_t bytes) { return memory(bytes, ptx::memory_kind::device); }
  std::byte* buffer_memory(std::size_t bytes) { return device_memory(bytes); }
  std::optional<device_share> share() noexcept { return std::nullopt; }
  bool mark_ready() noexcept { return false; }
  std::byte* pinned_memory(std::size_t bytes) { return memory(bytes, ptx::memory_kind::host); }
  queue_pair_ref<bus> queues(std::uint32_t submissions, std::uint32_t completions);
  bus_ring_ref<submission, bus> direct_ring(std::uint32_t submissions) {
    return ring_of<submission>(submissions, &writers_.emplace_back());
  }
  void begin(host_queues<bus>&) {}
  void launch(rondo::grid<bus> const& g);
  grid_end wait();
  void nudge(rondo::grid<bus> const&) {}  // the keeper polls
  bool copy_out(std::byte* to, std::byte const* from, std::size_t bytes);
  bool copy_in(std::byte* to, std::byte const* from, std::size_t bytes);
  bool copy(std::span<copy_job const> jobs);
  graph_engine& captures() noexcept { return graphs_; }
  bool end(std::chrono::nanoseconds) { return true; }
  void abandon();
  ptx_program code_of(program const& next) const;
  void set_code(ptx_program const& code);
  std::string name() const { return "ptx"; }
  std::string description(std::uint32_t teams, std::uint32_t pinned) const;
  std::string fault() const;

 private:
  struct time : ptx::machine_clock {
    std::uint64_t now_ns() noexcept override { return rondo::now_ns(); }
  };

  std::byte* memory(std::size_t bytes, ptx::memory_kind kind);
  template <class Item>
  bus_ring_ref<Item, bus> ring_of(std::uint32_t slots, bus_writers* writers) {
    auto const n = std::max(2u, ceil_power_of_two(slots));
    return {reinterpret_cast<bus_slot<Item>*>(pinned_memory(n * sizeof(bus_slot<Item>))),
            reinterpret_cast<bus_progress*>(pinned_memory(sizeof(bus_progress))), writers, n};
  }
  bool is_lost() const { return !fault().empty(); }

  std::vector<ptx_program> programs_;
  ptx::module const* code_ = nullptr;
  ptx_fit fit_;
  time time_;
  ptx::grid_options options_;
  std::list<arena_memory> memory_;
  std::vector<ptx::memory_range> ranges_;
  std::list<bus_writers> writers_;  // of the rings that the host writes
  call_list_engine graphs_{[this](copy_job const& job) { return copy({&job, 1}); }};

  mutable std::mutex mutex_;
  std::shared_ptr<ptx::grid> grid_;  // guarded by mutex_, like the next
  std::string fault_;
};

using ptx_device = queue_device<ptx_machine>;

/// The device of a configuration's teams, pinned_teams and lanes.
chosen_device make_ptx_device(std::vector<ptx_program> programs, config const& c,
                              ptx_device_options const& options = {}, std::uint32_t place = 0);

}  // namespace rondo
