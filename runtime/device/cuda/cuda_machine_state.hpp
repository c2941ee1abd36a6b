// The state of a cuda_machine, shared by its source files.
#pragma once

#include <fmt/format.h>

#include <map>

#include "runtime/device/cuda/cuda_call.hpp"
#include "runtime/device/cuda/cuda_graphs.hpp"
#include "runtime/device/cuda/cuda_inbox.hpp"
#include "runtime/device/cuda/cuda_machine.hpp"

namespace rondo {

/// The number of this process's machines on each GPU, and whether one of them has faulted; guarded by its mutex.
struct context_use {
  std::mutex mutex;
  std::map<int, int> machines;
  std::map<int, bool> faulted;
};
inline context_use& contexts() {
  static context_use all;
  return all;
}

struct cuda_machine::state {
  explicit state(int gpu_ordinal) : ordinal(gpu_ordinal) {
    std::lock_guard lock(contexts().mutex);
    ++contexts().machines[ordinal];
  }
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
  std::unique_ptr<bus_writers> down_writers = std::make_unique<bus_writers>();
  std::chrono::microseconds step{1000};  // between two checks for the end of the grid
  mutable std::mutex mutex;
  std::string fault;  // guarded by mutex
  bool faulted = false;

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
