// An edge: the way of frames from one output to one input, on one device. Its delivery says what happens if the reader
// is slow.
//
//   latest     a slot: a new frame replaces the one that was not read, so the writer never waits, and the reader gets
//              the newest
//   every      a bounded queue: if it is full, the new frame is dropped, and counted
//   lossless   a bounded queue: if it is full, the writer waits
//
// One wakes the other by a message `news`. A flag in the edge says that it is on the way, so an edge has at most one in
// each mailbox.
//
// Threads: the stage that writes, and the stage that reads; each is one actor, and works on one team at a time.
// Invariants
//  E1 Frames are taken in the order in which they were put. Each is taken, or handed back to the writer: replaced or
//     refused.
//  E2 After `put`, the reader looks: either `wants_reader` was true, and the writer has woken it, or an earlier news is
//     on the way, and `reader_looks` clears the flag before it looks.
//  E3 After `wait_for_room` returned true, the next `take` returns `writer_waits`.
//  E4 After `end`, nothing is put. A reader that sees `ended` and then finds nothing has taken all.
// Ordering
//  put -> take      the position (or the slot's exchange) releases; the reader's load acquires: the frame, and its
//                   data.
//  take -> put      likewise back: the reader has copied the frame out of its place.
//  put -> look      both sides exchange `news_`: the reader's exchange comes later, and sees the frame, or it comes
//                   earlier, and then the writer finds the flag clear.
//  take -> room     likewise with `room_wanted_`.
//  end -> ended     release, acquire: all frames before it.
#pragma once

#include "kernels/base/delivery.hpp"
#include "kernels/base/message.hpp"
#include "kernels/streams/frame.hpp"
#include "kernels/streams/latest_slot.hpp"

namespace rondo::streams {

class edge {
 public:
  /// `places`: room for `capacity` frames, a power of two, on the stages' device; not for `latest`.
  edge(delivery how, frame* places, std::uint32_t capacity) noexcept
      : places_(places), capacity_(capacity), how_(how) {}

  RONDO_HD delivery how() const noexcept { return how_; }

  // -- the writer

  /// What became of a frame.
  enum class outcome : std::uint32_t { passed, replaced, refused };
  /// Passes a frame with one use on. `replaced`: it took the place of `older`, whose use is now the caller's;
  /// `refused`: the frame's use stays the caller's.
  RONDO_HD outcome put(frame const& f, frame& older) noexcept {
    if (how_ == delivery::latest) return slot_.offer(f, older) ? outcome::replaced : outcome::passed;
    if (!has_room()) return outcome::refused;
    auto const at =
        put_.load(memory_order::relaxed);  // relaxed, twice: only the writer changes it; the store publishes
    places_[at & (capacity_ - 1)] = f;
    put_.store(at + 1, memory_order::release);  // put -> take
    return outcome::passed;
  }
  /// After `put` or `end`: whether the writer is to wake the reader.
  RONDO_HD bool wants_reader() noexcept {
    return news_.exchange(1, memory_order::release) == 0;  // put -> look
  }
  /// Whether `put` of a queue has room. A slot always has.
  RONDO_HD bool has_room() const noexcept {
    if (how_ == delivery::latest) return true;
    // acquire: take -> put. relaxed: only the writer changes it
    return put_.load(memory_order::relaxed) - taken_.load(memory_order::acquire) < capacity_;
  }
  /// The writer is to be woken when there is room. False: there is some.
  RONDO_HD bool wait_for_room() noexcept {
    room_wanted_.exchange(1, memory_order::acquire);  // take -> room
    return !has_room();
  }
  /// Nothing more comes.
  RONDO_HD void end() noexcept { ended_.store(1, memory_order::release); }  // end -> ended

  // -- the reader

  /// Before the reader looks for frames: from now on the writer wakes it again.
  RONDO_HD void reader_looks() noexcept { news_.exchange(0, memory_order::acquire); }  // put -> look
  /// The oldest frame, or the newest one of a slot. `writer_waits`: the writer is to be woken.
  RONDO_HD bool take(frame& f, bool& writer_waits) noexcept {
    writer_waits = false;
    if (how_ == delivery::latest) return slot_.take(f);
    auto const at = taken_.load(memory_order::relaxed);        // relaxed: only the reader changes it
    if (put_.load(memory_order::acquire) == at) return false;  // put -> take
    f = places_[at & (capacity_ - 1)];
    taken_.store(at + 1, memory_order::release);  // take -> put
    writer_waits =
        how_ == delivery::lossless && room_wanted_.exchange(0, memory_order::release) != 0;  // take -> room
    return true;
  }
  /// Whether nothing will be put. Then look once more.
  RONDO_HD bool ended() const noexcept { return ended_.load(memory_order::acquire) != 0; }

  /// How many frames wait; a hint.
  RONDO_HD std::uint32_t waiting() const noexcept {
    // relaxed, both: a number to be shown
    return put_.load(memory_order::relaxed) - taken_.load(memory_order::relaxed);
  }

  /// Whom to wake; set before the stages begin.
  actor_id reader{}, writer{};

 private:
  frame* places_;
  std::uint32_t capacity_;
  delivery how_;
  alignas(64) atomic<std::uint32_t> put_{0};  // the writer's
  atomic<std::uint32_t> ended_{0};
  alignas(64) atomic<std::uint32_t> taken_{0};  // the reader's
  alignas(64) atomic<std::uint32_t> news_{0};   // 1: the reader is woken, or about to be
  atomic<std::uint32_t> room_wanted_{0};
  alignas(64) latest_slot<frame> slot_;
};

}  // namespace rondo::streams
