// Plays kernels on a thread of the host: what other players are compared with.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "runtime/player/kernel_player.hpp"

namespace rondo {

class host_player final : public kernel_player {
 public:
  /// Each list takes so much longer. Throws no_thread.
  explicit host_player(std::chrono::nanoseconds delay = {});
  /// Plays what it was given to the end.
  ~host_player() override;

  std::string name() const override { return "host-thread"; }
  std::string description() const override { return "a thread of the host"; }
  std::pmr::memory_resource& memory() override { return *std::pmr::new_delete_resource(); }
  bool knows(kernel_entry const&) override { return true; }
  void play(std::vector<kernel_call> calls, ended done) override;
  bool is_lost() const noexcept override { return false; }
  std::uint64_t played() const noexcept override { return played_.load(std::memory_order_relaxed); }

 private:
  struct list {
    std::vector<kernel_call> calls;
    ended done;
  };
  void run(std::stop_token const& stops);

  std::chrono::nanoseconds const delay_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<list> waiting_;  // guarded by mutex_
  std::atomic<std::uint64_t> played_{0};
  std::jthread thread_;
};

}  // namespace rondo
