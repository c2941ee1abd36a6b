// The frames of sound: what a source has between two pictures. Either samples, or packets of a codec, which pass from
// a file to a file as they are.
//
//   samples   sound_block, then each channel's samples, floats from -1 to 1, one channel after the other
//   packets   sound_block, then for each packet a packet_of_sound, and its data, padded to 8 bytes
#pragma once

#include <string>

#include "kernels/streams/frame.hpp"

namespace rondo::video {

struct sound {
  std::int32_t rate = 0,
               channels = 0;      // samples per second; 0 channels: there is no sound, and no frame comes
  std::uint32_t most_bytes = 64;  // of a frame's data
  std::uint32_t codec = 0;        // 0: samples; else FFmpeg's number of the packets' codec
  std::uint32_t parameters = 0;   // of packets: where this process has the rest (ffmpeg/sound_parameters.hpp)

  RONDO_HD std::uint64_t bytes() const noexcept { return most_bytes; }
  /// Whether it is what every stage takes that takes sound.
  RONDO_HD bool is_plain() const noexcept { return codec == 0; }
  /// It has come from another process, whose numbers mean nothing here.
  RONDO_HD void from_elsewhere() noexcept { parameters = 0; }
  friend bool operator==(sound const&, sound const&) = default;
};

/// "48000 Hz, 2 channels, samples", for people.
std::string to_text(sound const& about);

/// At the beginning of a frame's data.
struct sound_block {
  std::uint64_t time_ns = 0;  // of the first sample, since the source's beginning; of packets: unused
  std::uint32_t count = 0;    // samples of each channel, or packets
  std::uint32_t unused = 0;
};

/// Before a packet's data.
struct packet_of_sound {
  std::int64_t pts = 0, dts = 0, duration = 0;  // in ticks of its stream; pts may be below zero: priming
  std::uint32_t bytes = 0, flags = 0;           // flags: FFmpeg's

  RONDO_HD std::uint64_t bytes_with_data() const noexcept { return sizeof *this + (bytes + 7ull) / 8 * 8; }
};

/// How many bytes of a frame's data are used.
inline std::size_t bytes_in(sound const& about, std::byte const* block) noexcept {
  auto const& head = *reinterpret_cast<sound_block const*>(block);
  if (about.codec == 0) return sizeof head + std::size_t(about.channels) * head.count * sizeof(float);
  auto const* at = block + sizeof head;
  for (std::uint32_t i = 0; i < head.count; ++i)
    at += reinterpret_cast<packet_of_sound const*>(at)->bytes_with_data();
  return static_cast<std::size_t>(at - block);
}

/// A channel's samples.
RONDO_HD inline float const* samples_of(std::byte const* block, std::int32_t channel) noexcept {
  auto const& head = *reinterpret_cast<sound_block const*>(block);
  return reinterpret_cast<float const*>(block + sizeof head) + std::size_t(channel) * head.count;
}

}  // namespace rondo::video
