// Frames: what passes from stage to stage. The data stay in a block of the writer's pool, and the frame refers to them.
#pragma once

#include <concepts>
#include <type_traits>

#include "kernels/base/portable.hpp"

namespace rondo::streams {

/// A time that is not known.
inline constexpr std::uint64_t no_time = ~0ull;

/// Where a frame comes from. If another process has made it: one session of its sender, and the frame's number in it,
/// from 0; behind any number of processes, gaps in the numbers say how many of the source's frames were lost on the
/// way. If its source has times of its own, as a video file has: when it is to be shown, and for how long.
struct frame_origin {
  std::uint64_t session = 0;        // 0: it was made in this graph
  std::uint64_t number = 0;         // of the frame in it
  std::uint64_t time_ns = no_time;  // since the source's beginning; no_time: it has no times of its own
  std::uint64_t lasts_ns = 0;       // 0: until the next frame
  friend bool operator==(frame_origin const&, frame_origin const&) = default;
};

/// One beat of a graph's clock. A source makes its frames at a tick; behind it, a stage has the tick of the frames that
/// it processes.
struct tick {
  std::uint64_t number = 0;   // from 0; a clock never makes the same one twice
  std::uint64_t time_ns = 0;  // when it was made, on the clock of the device that the graph's clock works on
  std::uint64_t since_ns =
      0;  // from the last tick that this stage has processed to this one; 0: it is the first
  std::uint64_t deadline_ns =
      0;                  // when the next tick is due, on the same clock; 0: the graph runs as fast as it can
  frame_origin origin{};  // of the frame whose tick it is
};

class frame_pool;

/// Bytes of what a port says of its frames.
inline constexpr std::size_t max_about_bytes = 32;

/// A reference to data, and one use of the block that holds them. Who has a frame passes it on, or gives it up.
struct frame {
  std::byte* data = nullptr;  // on the stage's device
  frame_pool* pool =
      nullptr;  // that the block belongs to; null: a gap, which says that there is no frame for this tick
  std::uint32_t block = 0;                           // in its pool
  std::uint32_t bytes = 0;                           // of the data
  std::uint64_t number = 0;                          // of its tick
  std::uint64_t time_ns = 0;                         // likewise
  frame_origin origin{};                             // likewise
  alignas(8) std::byte about[max_about_bytes] = {};  // the value of a frame_type

  /// Whether there is no frame for this tick.
  RONDO_HD bool is_gap() const noexcept { return pool == nullptr; }
};
static_assert(sizeof(frame) == 104 && std::is_trivially_copyable_v<frame>);

/// What a port says of its frames: a small struct such as `image`, with the size of a frame's data.
template <class T>
concept frame_type = std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> &&
                     sizeof(T) <= max_about_bytes&& requires(T const& t) {
  { t.bytes() } -> std::convertible_to<std::uint64_t>;
};

}  // namespace rondo::streams
