// The machine of an `emulated` device: a grid of threads of this process, with memory that only they touch, behind a
// bus that can delay writes. It can be made to fault like a GPU: at once, and with the loss of its memory.
//
// Threads: one per lane of each worker team, `rondo-io`, and `rondo-keeper`; they wait between launches.
// `lose` and the holds from any thread, the rest as in queue_device.hpp.
#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "runtime/device/emulated/emulated_program.hpp"
#include "runtime/device/queue/queue_device.hpp"
#include "runtime/graph/call_list.hpp"

namespace rondo {

class emulated_machine {
 public:
  using bus = emulated_bus;
  static constexpr bool rings = true;

  emulated_machine(emulated_program const& program, std::uint32_t lanes, emulation_options const& options);
  /// Precondition: none of its threads hangs in a handler.
  ~emulated_machine();

  std::byte* device_memory(std::size_t bytes) { return memory_.emplace_back(bytes).data(); }
  std::byte* buffer_memory(std::size_t bytes) { return device_memory(bytes); }
  std::optional<device_share> share() noexcept { return std::nullopt; }
  bool mark_ready() noexcept { return false; }
  std::byte* pinned_memory(std::size_t bytes) { return memory_.emplace_back(bytes).data(); }
  queue_pair_ref<bus> queues(std::uint32_t submissions, std::uint32_t completions);
  bus_ring_ref<submission, bus> direct_ring(std::uint32_t submissions);
  void begin(host_queues<bus>& queues) { host_ = &queues; }
  void launch(grid<bus> const& g);
  grid_end wait();
  void nudge(grid<bus> const& g) { g.state->ring_keeper(); }
  bool copy_out(std::byte* to, std::byte const* from, std::size_t bytes);
  bool copy_in(std::byte* to, std::byte const* from, std::size_t bytes);
  bool copy(std::span<copy_job const> jobs);
  graph_engine& captures() noexcept { return graphs_; }
  bool end(std::chrono::nanoseconds limit);
  emulated_program code_of(program const& next) const { return find_emulated_program(next.key); }
  void set_code(emulated_program const& code);
  std::string name() const { return "emulated"; }
  std::string description(std::uint32_t teams, std::uint32_t pinned) const;
  std::string fault() const { return is_lost() ? "the emulated device was told to fault" : ""; }

  /// Makes copies of buffers take as long as the model says. Precondition: nothing is being copied.
  void model_bus(bus_model const& model) noexcept {
    bus_model_ = model;
    has_model_ = true;
  }

  // -- faults for tests, from any thread

  /// Makes the machine fault: its threads leave as soon as their handlers return, and its memory is inaccessible.
  void lose() noexcept;
  /// While held, submissions stay in transit and the ring fills up.
  void hold_submissions(bool held) noexcept {
    for (auto& ring : down_) ring->wire().held.store(held, memory_order::relaxed);
  }

 private:
  struct port : emulated_port {
    emulated_machine* machine = nullptr;
  };
  enum class part { worker, io, keeper };

  bool is_lost() const noexcept { return losing_.load(memory_order::acquire) != 0; }
  void start_threads(grid<bus> const& g);
  void end_threads();
  /// A thread's main function: runs its part once per launch.
  void serve(part what, std::uint32_t index, std::uint32_t lane);
  void run(part what, std::uint32_t index, std::uint32_t lane);
  void keep();
  void emit(device_event const& event);
  modelled_bus::clock::time_point cross_bus(std::span<copy_job const> jobs);

  emulated_program program_;  // guarded by mutex_
  std::uint32_t lanes_;
  emulation_options options_;
  std::list<arena_memory> memory_;
  std::vector<std::unique_ptr<emulated_ring<submission>>> down_;  // and the direct rings
  std::unique_ptr<emulated_ring<device_event>> up_;
  handler_faults faults_;
  port port_;
  host_queues<bus>* host_ = nullptr;
  grid<bus> grid_;
  std::vector<team_shared> shared_;
  atomic<std::uint32_t> losing_{0};
  atomic<std::uint64_t> copies_{0};
  bus_model bus_model_;
  bool has_model_ = false;
  modelled_bus up_bus_, down_bus_;  // to the device, and from it
  call_list_engine graphs_{[this](copy_job const& job) { return copy({&job, 1}); }};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t launches_ = 0;  // guarded by mutex_, like the members below
  std::uint32_t workers_running_ = 0, others_running_ = 0;
  bool closing_ = false;

  std::vector<std::thread> threads_;  // used by the thread that launches
};

}  // namespace rondo
