// One camera's overlay on a fixed set of threads: tiles are handed out by an atomic counter, phases end at a barrier.
#pragma once

#include <atomic>
#include <barrier>
#include <boost/align/aligned_allocator.hpp>
#include <cstddef>
#include <thread>
#include <vector>

#include "actors/video/movement/lanes.hpp"
#include "actors/video/movement/pipeline.hpp"

namespace rondo::bench {

/// Zeroed memory that starts at a cache line.
using aligned_memory =
    std::vector<std::byte, boost::alignment::aligned_allocator<std::byte, video::carver::alignment>>;

/// Threads: `process` is called by one thread, which also works on tiles; `threads - 1` more are started.
class overlay_loop {
 public:
  overlay_loop(int width, int height, int threads, int tiles, video::overlay_params const& params)
      : params_(params), memory_(video::overlay_bytes(width, height, tiles, params)), barrier_(threads) {
    video::carver carver(memory_.data());
    overlay_ = video::carve_overlay(carver, width, height, tiles, params);
    video::reset_overlay(overlay_);
    for (int t = 1; t < threads; ++t) helpers_.emplace_back([this] { help(); });
  }
  ~overlay_loop() {
    stop_ = true;  // ordered before the helpers' read by the barrier
    barrier_.arrive_and_wait();
    for (auto& h : helpers_) h.join();
  }
  overlay_loop(overlay_loop const&) = delete;
  overlay_loop& operator=(overlay_loop const&) = delete;

  /// Detects, tracks and draws on the frame in place.
  void process(video::frame_view const& frame, video::status_line const& status) {
    frame_ = frame;
    status_ = &status;
    for (auto& next : next_tile_) next.store(0, std::memory_order_relaxed);  // the barrier publishes it
    barrier_.arrive_and_wait();
    work(true);
  }
  video::overlay_scene const& scene() const { return *overlay_.scene; }

 private:
  void help() {
    for (;;) {
      barrier_.arrive_and_wait();
      if (stop_) return;
      work(false);
    }
  }

  template <class Body>
  void phase(int index, Body const& body) {
    // Relaxed: the counter only hands out numbers; the barrier orders the data.
    for (int t; (t = next_tile_[index].fetch_add(1, std::memory_order_relaxed)) < overlay_.tiles;) body(t);
    barrier_.arrive_and_wait();
  }

  void work(bool first) {
    video::one_lane const lane;
    phase(0, [&](int t) { video::detect_tile(lane, overlay_, params_, frame_, t); });
    phase(1, [&](int t) { video::label_tile(lane, overlay_, params_, t); });
    if (first) video::finish_frame(overlay_, params_, frame_, *status_);
    barrier_.arrive_and_wait();
    phase(2, [&](int t) { video::draw_tile(lane, overlay_, frame_, t); });
  }

  video::overlay_params params_;
  aligned_memory memory_;
  video::overlay_ref overlay_;
  video::frame_view frame_;
  video::status_line const* status_ = nullptr;
  std::atomic<int> next_tile_[3] = {};
  std::barrier<> barrier_;
  bool stop_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace rondo::bench
