// Packets that wait, oldest first. Their memory is used again, so a queue that has grown enough allocates nothing.
//
// Threads: one at a time.
#pragma once

#include <vector>

#include "actors/video/ffmpeg/ffmpeg.hpp"

namespace rondo::video {

class packet_queue {
 public:
  bool empty() const noexcept { return count_ == 0; }
  /// The oldest one.
  AVPacket& front() noexcept { return *slots_[first_]; }
  /// Takes the packet's content.
  void push(AVPacket& p) {
    if (count_ == slots_.size()) grow();
    av_packet_move_ref(slots_[(first_ + count_++) % slots_.size()].get(), &p);
  }
  /// Drops the oldest one.
  void pop() noexcept {
    av_packet_unref(&front());
    first_ = (first_ + 1) % slots_.size();
    --count_;
  }
  void clear() noexcept {
    while (!empty()) pop();
  }

 private:
  void grow() {
    std::vector<ffmpeg::packet> more;
    more.reserve(2 * slots_.size() + 16);
    for (std::size_t i = 0; i < slots_.size(); ++i)
      more.push_back(std::move(slots_[(first_ + i) % slots_.size()]));
    while (more.size() < more.capacity()) more.push_back(ffmpeg::new_packet());
    slots_ = std::move(more);
    first_ = 0;
  }

  std::vector<ffmpeg::packet> slots_;
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace rondo::video
