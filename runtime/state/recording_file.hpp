// The format of a recording: a head of 16 bytes, then frames.
//
//   bytes  0.. 8  "RONDOREC"
//   bytes  8..12  0x01020304 in the byte order of the machine that wrote the file
//   bytes 12..16  the format's version
//   a frame       4 bytes: length of its body; 4 bytes: CRC-32 of the body; 4 bytes: CRC-32 of these 8 bytes; the body
//
// The first body is a checkpoint's (runtime/state/checkpoint_file.hpp), without mail: the actors at the beginning. Each
// later body is an entry of schemas/recording.fbs. If the writer is interrupted, the file holds a prefix of the
// entries.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kernels/link/device_event.hpp"
#include "runtime/base/errc.hpp"
#include "runtime/base/module_info.hpp"
#include "runtime/os/made_here.hpp"
#include "runtime/os/owned_fd.hpp"
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
  reserved_room reserve{};
  bool pinned = false;
  supervision supervise{};
  std::vector<std::byte> arguments{};
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

/// Writes a recording. Threads: any. Each actor's entries are in the order in which its messages completed, because its
/// owner reports them.
class recorder {
 public:
  using failure_handler = std::function<void(std::string const&)>;
  /// Creates the file, which must not exist. Throws std::runtime_error with the file and the reason. `on_failure` is
  /// called once, when the file can no longer be written.
  recorder(std::filesystem::path file, failure_handler on_failure);
  ~recorder();

  /// Writes the first frame. Throws std::runtime_error if it is too large.
  void begin(checkpoint_image const& image, std::vector<behaviour_info> const& module);
  /// Appends an entry. It is written to the file once 64 KiB are collected, or by flush.
  void append(recorded const& what);
  /// The same for a device's report. Precondition: the event's kind is handled or not_handled.
  void append(device_event const& r);
  /// Returns whether the file is complete so far.
  bool flush();
  /// Appends the last entry and syncs the file to disk; later appends have no effect. Throws std::runtime_error, each
  /// time, if that or an earlier write failed.
  void close();
  bool is_closed() const;
  /// Whether this is a forked child's copy: it writes nothing.
  bool is_of_parent() const noexcept { return !made_here_; }

 private:
  template <class Write>
  bool report_failure_of(Write write);
  void add_entry(recorded const& what);
  void add_frame(std::span<std::uint8_t const> body);
  void write_buffer();
  void fail(char const* doing);

  std::filesystem::path const file_;
  failure_handler const on_failure_;
  owned_fd const fd_;
  made_here const made_here_{};
  mutable std::mutex mutex_;  // guards the members below
  std::vector<std::byte> buffer_;
  std::uint64_t entries_ = 0;
  std::string failure_;  // why the file is incomplete; empty if no write has failed
  bool closed_ = false;
};

/// Threads: one at a time.
class recording_reader {
 public:
  /// Reads the head and the first frame. Throws std::runtime_error with the reason if they are torn, damaged, or
  /// foreign, or from another module, version, or byte order. The stream must be binary and outlive the reader.
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
