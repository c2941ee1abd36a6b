// The graph's side of a host_link: wakes actors of the graph from threads of the program.
//
// Threads: any, except `begin`.
#pragma once

#include <atomic>

#include "kernels/streams/frame_pool.hpp"
#include "kernels/streams/host_link.hpp"
#include "runtime/streams/kinds/stage_kind.hpp"

namespace rondo::streams {

class stage_link final : public host_link {
 public:
  explicit stage_link(runtime& rt) noexcept : rt_(rt) {}
  /// The stage has been launched, and will look once by itself.
  void begin(stage_actor const& stage) noexcept {
    stage_ = stage;
    has_begun_.store(true, std::memory_order_release);  // release: the actor
  }
  runtime& of() const noexcept { return rt_; }

  void wake() noexcept override {
    // A full mailbox does no harm: a stage looks after each message.
    if (has_begun_.load(std::memory_order_acquire)) static_cast<void>(stage_.try_tell(news{}));
  }
  void give_up(frame const& kept) noexcept override {
    if (kept.pool->end_use(kept.block) && has_begun_.load(std::memory_order_acquire))
      static_cast<void>(stage_actor{stage_.mail(), kept.pool->owner}.try_tell(news{}));
  }

 private:
  runtime& rt_;
  stage_actor stage_{};
  std::atomic<bool> has_begun_{false};
};

}  // namespace rondo::streams
