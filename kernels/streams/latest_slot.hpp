// The newest frame for one reader: what the delivery `latest` uses.
//
// Three places for frames. One is the writer's, one the reader's, and the third is offered. The writer fills its own
// and exchanges it for the offered one; if there is a new frame, so does the reader. So neither ever waits for the
// other, and the reader gets the newest frame that was complete when it looked. A frame that is overwritten unread
// comes back to the writer, to be given up.
//
// Threads: one writer and one reader at a time; who hands that role on orders it.
// Ordering
//  offer   writer's exchange (release) -> reader's exchange (acquire): the frame.
//  return  reader's exchange (release) -> writer's exchange (acquire): the reader has done with what is in that place.
#pragma once

#include <type_traits>

#include "kernels/base/atomic.hpp"

namespace rondo::streams {

template <class Frame>
class latest_slot {
  static_assert(std::is_trivially_copyable_v<Frame>);

 public:
  /// Writer: offers a frame. True: nobody has read the one before, which `unread` gets.
  RONDO_HD bool offer(Frame const& frame, Frame& unread) noexcept {
    frames_[writers_] = frame;
    auto const before = offered_.exchange(writers_ | fresh, memory_order::acq_rel);  // both edges
    writers_ = before & place_mask;
    if ((before & fresh) == 0) return false;
    unread = frames_[writers_];
    return true;
  }

  /// Reader: takes the newest frame, if it is new.
  RONDO_HD bool take(Frame& frame) noexcept {
    // Relaxed: the exchange acquires; only the reader takes the mark away.
    if ((offered_.load(memory_order::relaxed) & fresh) == 0) return false;
    readers_ = offered_.exchange(readers_, memory_order::acq_rel) & place_mask;  // both edges
    frame = frames_[readers_];
    return true;
  }

 private:
  static constexpr std::uint32_t place_mask = 3, fresh = 4;

  std::uint32_t writers_ = 0, readers_ = 1;  // places
  atomic<std::uint32_t> offered_{2};  // a place, and `fresh` until the reader has taken the frame there
  Frame frames_[3];
};

}  // namespace rondo::streams
