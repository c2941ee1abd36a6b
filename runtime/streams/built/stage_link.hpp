// The graph's side of a host_link: wakes actors of the graph from threads of the program.
//
// Threads: any, except `begin`.
#pragma once

#include <atomic>

#include "kernels/streams/frame_pool.hpp"
#include "kernels/streams/host_link.hpp"
#include "runtime/core/runtime_core.hpp"
#include "runtime/streams/kinds/stage_kind.hpp"
#include "runtime/text/clean_text.hpp"

namespace rondo::streams {

class stage_link final : public host_link {
 public:
  stage_link(runtime& rt, log_line of, bool is_paused, stage_beginning const& beginning)
      : rt_(rt), line_(std::move(of)), is_paused_(is_paused), beginning_(beginning) {}
  /// The stage has been launched, and will look once by itself.
  void begin(stage_actor const& stage) noexcept {
    stage_ = stage;
    beginning_ = {};  // what is opened later, for a stage that is replaced, begins anew
    has_begun_.store(true, std::memory_order_release);  // release: the actor
  }
  runtime& of() const noexcept { return rt_; }
  void set_paused(bool paused) noexcept {
    is_paused_.store(paused,
                     std::memory_order_relaxed);  // relaxed: the message that wakes the stage is newer
    if (!paused) wake();
  }

  void wake() noexcept override {
    // A full mailbox does no harm: a stage looks after each message.
    if (has_begun_.load(std::memory_order_acquire)) static_cast<void>(stage_.try_tell(news{}));
  }
  bool is_paused() const noexcept override { return is_paused_.load(std::memory_order_relaxed); }
  stage_beginning begins_at() const noexcept override { return beginning_; }
  void log(log_level level, char const* line) const override {
    if (level < rt_.settings().log_level) return;
    auto l = line_;
    l.time = std::chrono::system_clock::now();
    l.level = level;
    l.text = clean_text(line);
    rt_.core().watched().log(std::move(l));
  }
  void give_up(frame const& kept) noexcept override {
    if (kept.pool->end_use(kept.block) && has_begun_.load(std::memory_order_acquire))
      static_cast<void>(stage_actor{stage_.mail(), kept.pool->owner}.try_tell(news{}));
  }

 private:
  runtime& rt_;
  log_line const line_;  // of the stage, without a text
  stage_actor stage_{};
  std::atomic<bool> has_begun_{false};
  std::atomic<bool> is_paused_;
  stage_beginning beginning_;
};

}  // namespace rondo::streams
