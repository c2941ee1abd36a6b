// The machine of a `cuda` device: one NVIDIA GPU through the CUDA runtime. Its grid is one cooperative launch of a
// module's ring kernel (cuda_module.hpp). All memory is allocated before that, and streams are non-blocking, because a
// call that waits for the whole device would wait forever.
//
// Threads: as in queue_device.hpp. Only runtime/device uses CUDA's host interface.
#pragma once

#include <memory>

#include "runtime/base/config.hpp"
#include "runtime/device/cuda/cuda_program.hpp"
#include "runtime/device/queue/queue_device.hpp"

namespace rondo {

/// The dimensions of a module's grid on a GPU.
struct cuda_fit {
  std::uint32_t lanes = warp_size;  // of a team: a warp, or a block of several
  std::uint32_t teams = 0, pinned_teams = 0;
  std::uint32_t blocks = 0, block_threads = 0;  // of the grid, including the I/O block
  bool must_end = false;                        // the system kills long kernels: only rounds are possible
  std::string inbox;                            // config::inbox
  std::string text;                             // a description, for human readers
};

class cuda_machine {
 public:
  using bus = prompt_bus;
  static constexpr bool rings = false;

  /// The number of GPUs; if 0, `why_none` has the reason.
  static int count(std::string& why_none);
  /// Computes the dimensions for `c` and the module on GPU `ordinal`. Throws std::runtime_error with what is missing
  /// and what to do.
  static cuda_fit fit(int ordinal, cuda_program const& program, config const& c);

  /// Zeroed memory that both sides reach, kept until the process ends; null without a GPU, or while a ring kernel runs.
  /// For data that handlers share with their host in addition to messages.
  static std::byte* claim_shared(std::size_t bytes) noexcept;

  cuda_machine(int ordinal, cuda_program const& program, cuda_fit const& fit);
  /// After a fault, the process can use the GPU again once its last machine is destroyed.
  ~cuda_machine();
  cuda_machine(cuda_machine const&) = delete;
  cuda_machine& operator=(cuda_machine const&) = delete;

  std::byte* device_memory(std::size_t bytes);
  std::byte* buffer_memory(std::size_t bytes);
  std::optional<device_share> share() noexcept;
  bool mark_ready();
  std::byte* pinned_memory(std::size_t bytes);
  queue_pair_ref<bus> queues(std::uint32_t submissions, std::uint32_t completions);
  bus_ring_ref<submission, bus> direct_ring(std::uint32_t submissions);
  void begin(host_queues<bus>&) {}
  void launch(grid<bus> const& g);
  grid_end wait();
  void nudge(grid<bus> const&) {}  // the keeper polls
  bool copy_out(std::byte* to, std::byte const* from, std::size_t bytes);
  bool copy_in(std::byte* to, std::byte const* from, std::size_t bytes);
  bool copy(std::span<copy_job const> jobs);
  graph_engine& captures() noexcept;
  bool end(std::chrono::nanoseconds) { return true; }
  cuda_program code_of(program const& next) const;
  void set_code(cuda_program const& code);
  std::string name() const;
  std::string description(std::uint32_t teams, std::uint32_t pinned) const;
  std::string fault() const;

 private:
  struct state;
  /// `slots`: null for pinned memory.
  template <class Item>
  bus_ring_ref<Item, bus> ring_of(bus_slot<Item>* slots, std::uint32_t n, bus_writers* writers, bus how = {});
  void reserve_stack();
  void set_clock();
  bool copy(void* to, void const* from, std::size_t bytes, char const* what);
  std::unique_ptr<state> state_;
};

using cuda_device = queue_device<cuda_machine>;

}  // namespace rondo
