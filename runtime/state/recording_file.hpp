// The format of a recording: a head of 16 bytes, then frames.
//
//   bytes  0.. 8  "RONDOREC"
//   bytes  8..12  0x01020304 in the byte order of the machine that wrote the file
//   bytes 12..16  the format's version
//   a frame       4 bytes: length of its body; 4 bytes: CRC-32 of the body; 4 bytes: CRC-32 of these 8 bytes; the body
//
// The first body is a checkpoint's (runtime/state/checkpoint_file.hpp), without mail: the actors at the beginning. Each
// later body is an entry of schemas/recording.fbs. If the writer is interrupted, the file holds a prefix of the entries.
// Threads: one at a time for each writer and reader.
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
/// The last entry of a complete file.
struct recording_closed {
  std::uint64_t entries = 0;
};
using recorded = std::variant<recorded_message, recorded_launch, recorded_end, recording_closed>;

/// Decodes an entry. Precondition: `body` is aligned to 8 bytes. Throws std::runtime_error with the reason.
recorded decode_recorded(std::span<std::byte const> body, std::vector<behaviour_info> const& module);

class recording_writer {
 public:
  /// Creates the file, which must not exist. Throws std::runtime_error with the file and the reason.
  explicit recording_writer(std::filesystem::path file);
  ~recording_writer();
  recording_writer(recording_writer const&) = delete;
  recording_writer& operator=(recording_writer const&) = delete;

  /// Writes the first frame. Throws std::runtime_error if it is too large.
  void begin(checkpoint_image const& image, std::vector<behaviour_info> const& module);
  /// Appends an entry. It is written to the file once 64 KiB are collected, or by flush.
  void append(recorded const& what);
  void flush();
  /// Appends the last entry and syncs the file to disk; later appends have no effect. Throws std::runtime_error, each time, if
  /// that or an earlier write failed.
  void close();
  bool is_closed() const noexcept { return closed_; }

  /// Why the file is incomplete; empty if no write has failed.
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
  bool closed_ = false;
};

class recording_reader {
 public:
  /// Reads the head and the first frame. Throws std::runtime_error with the reason if they are torn, damaged, or foreign,
  /// or from another module, version, or byte order. The stream must be binary and outlive the reader.
  recording_reader(std::istream& from, std::vector<behaviour_info> const& module);

  /// The actors at the beginning.
  checkpoint_image const& image() const noexcept { return image_; }
  /// The next entry; nullopt after the last complete one. Throws std::runtime_error for a frame that is complete but
  /// invalid.
  std::optional<recorded> next();
  /// After the last entry: whether the file was closed properly.
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
