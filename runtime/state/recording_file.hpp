// The format of a recording: a head of 16 bytes, then frames.
//
//   bytes  0.. 8  "RONDOREC"
//   bytes  8..12  0x01020304 in the byte order of the machine that wrote the file
//   bytes 12..16  the format's version
//   a frame       4 bytes with the length of its body, 4 bytes with the CRC-32 of that, the body
//
// The first body is a checkpoint's (runtime/state/checkpoint_file.hpp), without mail: the actors that lived at the beginning. Each
// later one is an entry of schemas/recording.fbs. Whatever ends the writer, the file holds a beginning of what happened.
// Threads: writer and reader one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "runtime/base/errc.hpp"
#include "runtime/base/module_info.hpp"
#include "runtime/state/checkpoint_image.hpp"

namespace rondo {

inline constexpr std::uint32_t recording_version = 2;

struct recorded_message {
  actor_id actor;
  message body;  // its payload has max_payload_bytes; flags without the runtime's own
  std::uint32_t team = 0;
  bool handled = true;
  errc reason = errc::ok;
  std::uint32_t digest = 0;
};
struct recorded_launch {
  actor_id actor;
  std::string name;
  std::uint16_t behaviour = 0;
  std::uint32_t capacity = 0;
  bool pinned = false;
  supervision supervise{};
};
struct recorded_end {
  actor_id actor;
};
/// Stands last in a file that is complete.
struct recording_closed {
  std::uint64_t entries = 0;
};
using recorded = std::variant<recorded_message, recorded_launch, recorded_end, recording_closed>;

/// The entry in a frame's body, which is aligned to 8 bytes. Throws std::runtime_error with the reason.
recorded decode_recorded(std::span<std::byte const> body, std::vector<behaviour_info> const& module);

class recording_writer {
 public:
  /// Makes the file, which must not be there yet. Throws std::runtime_error naming it and the reason.
  explicit recording_writer(std::filesystem::path file);
  ~recording_writer();
  recording_writer(recording_writer const&) = delete;
  recording_writer& operator=(recording_writer const&) = delete;

  /// The frame that stands first. Throws std::runtime_error when it is too large.
  void begin(checkpoint_image const& image, std::vector<behaviour_info> const& module);
  /// What was appended reaches the file when 64 KiB have come together, or with flush.
  void append(recorded const& what);
  void flush();
  /// Appends the end, and brings all to the disk. Throws std::runtime_error when that, or an earlier write, failed.
  void close();

  /// Why the file ends early; empty while it does not.
  std::string const& failure() const noexcept { return failure_; }
  std::filesystem::path const& file() const noexcept { return file_; }

 private:
  void add_frame(std::span<std::uint8_t const> body);
  void fail(char const* doing);

  std::filesystem::path file_;
  int fd_ = -1;
  std::vector<std::byte> buffer_;
  std::uint64_t entries_ = 0;
  std::string failure_;
};

class recording_reader {
 public:
  /// Reads the head and the first frame. Throws std::runtime_error with the reason when they are torn, changed or foreign,
  /// or of another module, version or byte order. The stream is binary and outlives the reader.
  recording_reader(std::istream& from, std::vector<behaviour_info> const& module);

  /// The actors at the beginning.
  checkpoint_image const& image() const noexcept { return image_; }
  /// The next entry; none after the last whole one. Throws std::runtime_error for a frame that is there as a whole and
  /// makes no sense.
  std::optional<recorded> next();
  /// After the last one: whether the file was ended in order.
  bool complete() const noexcept { return complete_; }

 private:
  bool read_frame();

  std::istream& from_;
  std::vector<behaviour_info> const& module_;
  std::vector<std::byte> body_;
  checkpoint_image image_;
  std::uint64_t entries_ = 0;
  bool complete_ = false;
};

}  // namespace rondo
