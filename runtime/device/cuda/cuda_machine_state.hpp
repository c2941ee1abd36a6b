// The state of a cuda_machine, shared by its source files.
#pragma once

#include <fmt/format.h>

#include <list>
#include <utility>

#include "runtime/device/cuda/cuda_call.hpp"
#include "runtime/device/cuda/cuda_graphs.hpp"
#include "runtime/device/cuda/cuda_inbox.hpp"
#include "runtime/device/cuda/cuda_machine.hpp"
#include "runtime/device/cuda/gpu_use.hpp"

namespace rondo {

struct cuda_machine::state {
  explicit state(int gpu_ordinal) : ordinal(gpu_ordinal) { gpu_use::of_process().add_machine(ordinal); }
  ~state();
  state(state const&) = delete;
  state& operator=(state const&) = delete;

  int ordinal;
  cuda_program program;
  cuda_fit fit;
  cudaStream_t grids{}, copies{};
  cudaEvent_t ended{};
  std::vector<void*> device;
  cudaMemPool_t shared_pool{};  // only for buffers; other processes can open it
  cudaEvent_t ready{};
  device_share shared;
  std::vector<std::byte*> host;
  cuda_inbox inbox;
  std::unique_ptr<cuda_graphs> graphs;
  atomic<std::uint32_t> batches_known{1};  // whether the driver has cudaMemcpyBatchAsync
  std::list<bus_writers> writers;          // of the rings that the host writes
  std::chrono::microseconds step{1000};    // between two checks for the end of the grid
  mutable std::mutex mutex;
  std::string fault;  // guarded by mutex
  bool faulted = false;
  bool runs_for_ever = false;  // a grid that is not of rounds

  void note_end() {
    if (std::exchange(runs_for_ever, false)) gpu_use::of_process().end_grid(ordinal);
  }
  /// Returns true if the call succeeded; otherwise records the failure if it is the first.
  bool succeeded(cudaError_t e, char const* what) {
    if (e == cudaSuccess) return true;
    std::lock_guard lock(mutex);
    if (!faulted) fault = fmt::format("{}: {}", what, text_of(e));
    faulted = true;
    return false;
  }
};

}  // namespace rondo
