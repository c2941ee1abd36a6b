#include "tests/player/host_player.hpp"

#include <utility>

#include "runtime/os/start_thread.hpp"

namespace rondo {

host_player::host_player(std::chrono::nanoseconds delay)
    : delay_(delay),
      thread_(start_jthread("kernels on the host", [this](std::stop_token const& stops) { run(stops); })) {}

host_player::~host_player() {
  thread_.request_stop();
  thread_.join();
}

void host_player::play(std::vector<kernel_call> calls, ended done) {
  {
    std::lock_guard const lock(mutex_);
    waiting_.push_back({std::move(calls), std::move(done)});
  }
  changed_.notify_one();
}

void host_player::run(std::stop_token const& stops) {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stops, [this] { return !waiting_.empty(); });
    if (waiting_.empty()) return;
    auto const now = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (delay_.count() > 0) std::this_thread::sleep_for(delay_);
    for (auto const& c : now.calls)
      for (std::uint32_t row = 0; row < c.rows; ++row)
        c.kernel.on_host(c.buffers.of, c.arguments, {0, 1, static_cast<int>(row)});
    played_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a statistic
    now.done({}, {});
  }
}

}  // namespace rondo
