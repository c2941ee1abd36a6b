// The use that this process makes of its GPUs. While a ring kernel runs, a call that waits for a whole GPU would never
// return: memory is claimed before, or not at all.
//
// Threads: any. Nothing here uses CUDA.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

namespace rondo {

class gpu_use {
 public:
  static gpu_use& of_process() {
    static gpu_use all;
    return all;
  }

  /// While the lock is held, no ring kernel starts, so the caller may wait for a whole GPU. Throws std::runtime_error
  /// if one runs. `what` begins the error's text.
  std::unique_lock<std::mutex> keep_idle(std::string const& what) {
    std::unique_lock lock(mutex_);
    if (is_running_anywhere())
      throw std::runtime_error(what +
                               " could wait for ever for the ring kernel that this process runs on a GPU: "
                               "end that runtime first, or use one "
                               "runtime with several devices (device: \"cuda:0,cuda:0\")");
    return lock;
  }
  /// As keep_idle for this GPU alone, but does not hold the lock if a ring kernel runs there.
  std::unique_lock<std::mutex> try_keep_idle(int gpu) {
    std::unique_lock lock(mutex_);
    if (gpus_[gpu].grids != 0) lock.unlock();
    return lock;
  }
  /// Does not hold the lock either if the GPU has several machines.
  std::unique_lock<std::mutex> try_keep_idle_alone(int gpu) {
    auto lock = try_keep_idle(gpu);
    if (lock.owns_lock() && gpus_[gpu].machines != 1) lock.unlock();
    return lock;
  }

  /// A ring kernel that does not end by itself is about to start; waits while keep_idle's lock is held.
  void begin_grid(int gpu) {
    std::lock_guard lock(mutex_);
    ++gpus_[gpu].grids;
  }
  void end_grid(int gpu) {
    std::lock_guard lock(mutex_);
    --gpus_[gpu].grids;
  }

  void add_machine(int gpu) {
    std::lock_guard lock(mutex_);
    ++gpus_[gpu].machines;
  }
  /// What is left to do for a machine that ends.
  enum class ending { release, leave, reset };
  /// `leave`: the GPU's context has faulted, and its memory cannot be released. `reset`: the same, and this was its
  /// last machine.
  ending remove_machine(int gpu, bool faulted) {
    std::lock_guard lock(mutex_);
    auto& g = gpus_[gpu];
    g.faulted = g.faulted || faulted;
    bool const last = --g.machines == 0;
    if (!g.faulted) return ending::release;
    if (!last) return ending::leave;
    g = {.was_reset = true};
    return ending::reset;
  }
  /// Whether the GPU was reset after a fault. CUDA promises it to new processes alone: a driver may refuse it to this
  /// one.
  bool was_reset(int gpu) {
    std::lock_guard lock(mutex_);
    return gpus_[gpu].was_reset;
  }

  /// Reserves stack for the threads of a kernel by `set`, which waits for the GPU. Throws as keep_idle if more is
  /// needed than was reserved before a ring kernel started.
  template <class Set>
  void reserve_stack(int gpu, std::size_t bytes, Set set) {
    std::unique_lock lock(mutex_);
    if (bytes <= gpus_[gpu].stack_bytes) return;
    lock.unlock();
    lock = keep_idle("reserving " + std::to_string(bytes) +
                     " bytes of stack for each thread of the ring kernel");
    set(bytes);
    gpus_[gpu].stack_bytes = bytes;
  }

 private:
  bool is_running_anywhere() const {
    return std::ranges::any_of(gpus_, [](auto const& gpu) { return gpu.second.grids != 0; });
  }

  struct use {
    int machines = 0, grids = 0;
    std::size_t stack_bytes = 0;  // per thread
    bool faulted = false, was_reset = false;
  };
  std::mutex mutex_;
  std::map<int, use> gpus_;  // guarded by mutex_
};

}  // namespace rondo
