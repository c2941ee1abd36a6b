// Plays kernels by Metal, on a Mac.
//
// The kernels come as one text in Metal's language, which the driver compiles when the player is made. Memory is in
// shared buffers, so nothing is copied. Its source is Objective-C++ without automatic reference counting, so that it
// also compiles on Linux, for a test (tests/player/metal_stand_in). It has not yet run on Apple hardware.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/player/kernel_player.hpp"
#include "runtime/player/kernel_program.hpp"
#include "runtime/player/list_watch.hpp"

namespace rondo {

class metal_player final : public kernel_player {
 public:
  /// Opens the GPU that the system prefers. A list that takes longer than `limit` is lost, and the player with it.
  /// Throws std::runtime_error: there is no GPU, or it does not compile one of the programs (with the driver's text).
  explicit metal_player(std::vector<kernel_program const*> const& programs,
                        std::chrono::nanoseconds limit = kernel_list_limit);
  /// Waits for what it plays, for at most the limit. What the driver may still touch then is left to it, which one line
  /// on standard error says.
  ~metal_player() override;
  metal_player(metal_player const&) = delete;
  metal_player& operator=(metal_player const&) = delete;

  std::string name() const override { return "metal"; }
  std::string description() const override;
  std::pmr::memory_resource& memory() override;
  bool knows(kernel_entry const& kernel) override;
  void play(std::vector<kernel_call> calls, ended done) override;
  bool is_lost() const noexcept override { return watch_->is_lost(); }
  std::uint64_t played() const noexcept override { return watch_->played(); }

 private:
  struct machine;

  std::string name_;
  std::mutex mutex_;  // guards the pipelines, and the lists' order
  std::unique_ptr<list_watch> watch_;
  std::unique_ptr<machine> machine_;  // all objects of the driver
};

}  // namespace rondo
