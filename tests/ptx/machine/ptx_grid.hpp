// A grid of blocks that runs one entry of a module: a cooperative launch. Its blocks run at the same time.
//
// Either each warp has a thread (`start`, `wait`), or one thread steps through all warps in turn (`step`), which is
// deterministic for a seed if the clock is.
//
// Threads: one thread owns a grid. `running` and `stop` from any.
#pragma once

#include <thread>

#include "tests/ptx/machine/ptx_warp.hpp"

namespace ptx {

struct grid_options {
  weakness how;
  observer* watcher = nullptr;
  machine_clock* clock = nullptr;  // null: the system's
};

using kernel_params = std::vector<std::vector<std::byte>>;

class grid {
 public:
  /// `memory`: what the kernel may access besides its module's
  /// variables. Throws ptx::error.
  grid(module const& code, std::uint32_t entry, std::uint32_t blocks, std::uint32_t threads,
       kernel_params const& params, std::vector<memory_range> memory, grid_options const& options = {});
  ~grid();
  grid(grid const&) = delete;
  grid& operator=(grid const&) = delete;

  // -- one thread per warp

  void start();
  /// Until it has ended. Throws ptx::error if a warp failed; the others were stopped.
  void wait();
  bool running() const noexcept { return left_.load(std::memory_order_acquire) != 0; }
  /// Makes all warps end where they are.
  void stop() noexcept { stopping_.store(true, std::memory_order_release); }

  // -- one thread for all

  /// Lets each warp in turn execute up to `instructions`. False: all have ended. Throws ptx::error, also if no warp can
  /// ever go on.
  bool step(std::uint32_t instructions);
  /// Steps to the end.
  void run() {
    while (step(64)) {
    }
  }

  std::uint64_t executed() const noexcept;
  std::vector<std::unique_ptr<warp>> const& warps() const noexcept { return warps_; }

 private:
  void serve(warp& w);
  void fail(std::string const& what);

  std::vector<std::byte> params_;
  machine_clock real_time_;
  posted_writes bus_;
  launch launch_;
  std::vector<std::unique_ptr<multiprocessor>> blocks_;
  std::vector<std::unique_ptr<warp>> warps_;
  std::vector<std::thread> threads_;
  std::atomic<std::size_t> left_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::string failure_;  // guarded by mutex_; the first
};

/// The bytes of kernel parameters.
template <class... Params>
kernel_params params_of(Params const&... params) {
  kernel_params all;
  auto const put = [&](auto const& p) {
    auto const* const bytes = reinterpret_cast<std::byte const*>(&p);
    all.emplace_back(bytes, bytes + sizeof p);
  };
  (put(params), ...);
  return all;
}

}  // namespace ptx
