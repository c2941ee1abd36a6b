// The graph's side of a host_link: wakes actors of the graph from threads of the program.
//
// Threads: any, except `begin`.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "kernels/streams/frame_pool.hpp"
#include "kernels/streams/host_link.hpp"
#include "runtime/core/runtime_core.hpp"
#include "runtime/memory/buffer_pool.hpp"
#include "runtime/player/kernel_player.hpp"
#include "runtime/streams/kinds/stage_kind.hpp"
#include "runtime/streams/plan/player_beside.hpp"
#include "runtime/text/clean_text.hpp"

namespace rondo::streams {

class stage_link final : public host_link {
 public:
  /// `plays`: its kernels play on the GPU beside its device, if there is one.
  stage_link(runtime& rt, log_line of, bool is_paused, stage_beginning const& beginning, bool plays)
      : rt_(rt), line_(std::move(of)), is_paused_(is_paused), beginning_(beginning), may_play_(plays) {}
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
  kernel_list* kernels() override {
    auto* const player = player_here();
    if (player == nullptr || player->is_lost() || outcome() == played::failed) return nullptr;
    list_.all.clear();
    return &list_;
  }
  void play() override {
    {
      std::lock_guard const lock(playing_);
      outcome_ = played::not_yet;
      plays_ = true;
    }
    try {
      player_here()->play(std::move(list_.all), [this](error_code why, std::string const& text) {
        if (why) log(log_level::warning, ("its kernels work on the host from now on: " + text).c_str());
        end_play(why ? played::failed : played::whole);
      });
    } catch (...) {  // no memory: the tick fails, and is tried again
      end_play(played::not_yet);
      throw;
    }
  }
  played outcome() noexcept override {
    std::lock_guard const lock(playing_);
    return outcome_;
  }
  /// Until nothing writes to the graph's memory any more.
  void wait_for_kernels() {
    std::unique_lock lock(playing_);
    ended_.wait(lock, [this] { return !plays_; });
  }
  void give_up(frame const& kept) noexcept override {
    if (kept.pool->end_use(kept.block) && has_begun_.load(std::memory_order_acquire))
      static_cast<void>(stage_actor{stage_.mail(), kept.pool->owner}.try_tell(news{}));
  }

 private:
  void end_play(played outcome) {
    std::lock_guard const lock(playing_);  // until the last use of this object
    outcome_ = outcome;
    plays_ = false;
    wake();
    ended_.notify_all();
  }
  /// Null: its kernels do not play.
  kernel_player* player_here() const noexcept {
    return may_play_ ? player_beside(rt_, line_.device) : nullptr;
  }

  runtime& rt_;
  log_line const line_;  // of the stage, without a text
  stage_actor stage_{};
  std::atomic<bool> has_begun_{false};
  std::atomic<bool> is_paused_;
  stage_beginning beginning_;
  bool const may_play_;
  kernel_calls list_;   // the stage's
  std::mutex playing_;  // guards the next two
  std::condition_variable ended_;
  bool plays_ = false;
  played outcome_ = played::not_yet;
};

}  // namespace rondo::streams
