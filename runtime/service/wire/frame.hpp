// Frames of the wire protocol: splits the bytes from a socket into requests or responses.
//
// A frame is 4 bytes with the length of the rest, little-endian, then one FlatBuffer of schemas/wire.fbs: what
// FlatBuffers calls a size-prefixed buffer. Nothing in a frame is read before its length has been checked against a
// limit and FlatBuffers' verifier has accepted it.
//
// Threads: one at a time per object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::service {

inline constexpr std::size_t frame_head_bytes = 4;

/// Splits the bytes from a peer into frames.
class frame_reader {
 public:
  explicit frame_reader(std::uint32_t max_frame_bytes) : max_frame_bytes_(max_frame_bytes) {}

  /// Room for the next bytes: at least `wanted`. Invalidates the frames that `next` returned.
  std::span<std::byte> room(std::size_t wanted);
  /// Notes that `count` bytes were written there.
  void came(std::size_t count) noexcept { end_ += count; }

  enum class state { frame, more, too_large };
  /// The next whole frame with its head, if there is one, aligned for FlatBuffers. Once a frame's length exceeds the
  /// limit, always `too_large`: nothing after it can be parsed.
  state next(std::span<std::byte const>& frame) noexcept;

  /// The length of the frame that was too large.
  std::uint32_t refused_bytes() const noexcept { return refused_; }
  /// Whether a frame has arrived in part.
  bool in_frame() const noexcept { return end_ != begin_; }

 private:
  std::uint32_t max_frame_bytes_, refused_ = 0;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0, end_ = 0;  // of the bytes received and not yet returned
  std::vector<std::max_align_t> aligned_;
};

}  // namespace rondo::service
