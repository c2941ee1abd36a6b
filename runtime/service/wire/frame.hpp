// Frames of the wire protocol: how bytes from a socket become requests and responses, and back.
//
// A frame is 4 bytes with the length of what follows, little-endian, then one FlatBuffer of schemas/wire.fbs: what
// FlatBuffers calls a size-prefixed buffer. Nothing is read from one before its length was held against a limit and
// FlatBuffers' verifier has passed it.
//
// Threads: one at a time per object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rondo::service {

inline constexpr std::size_t frame_head_bytes = 4;

/// Bytes that came from a peer, cut into frames.
class frame_reader {
 public:
  explicit frame_reader(std::uint32_t max_frame_bytes) : max_frame_bytes_(max_frame_bytes) {}

  /// Where to put what comes next: at least `wanted` bytes. Frames that `next` gave are void after this.
  std::span<std::byte> room(std::size_t wanted);
  /// `count` bytes were put there.
  void came(std::size_t count) noexcept { end_ += count; }

  enum class state { frame, more, too_large };
  /// The next whole frame with its head, if there is one, at an address that FlatBuffers can read from; `too_large` for
  /// ever once a frame says that it is longer than the limit: nothing after it can be understood.
  state next(std::span<std::byte const>& frame) noexcept;

  /// The length that a frame gave which was too large.
  std::uint32_t refused_bytes() const noexcept { return refused_; }
  /// Of a frame that has begun to come, and has not ended.
  bool in_frame() const noexcept { return end_ != begin_; }

 private:
  std::uint32_t max_frame_bytes_, refused_ = 0;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0, end_ = 0;  // of what came and was not taken
  std::vector<std::max_align_t> aligned_;
};

}  // namespace rondo::service
