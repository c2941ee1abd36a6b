// A file whose damage is seen: a head of 40 bytes, and then a body.
//
//   bytes  0.. 8  what kind of file it is, such as "RONDOCKP"
//   bytes  8..12  0x01020304 in the byte order of the machine that wrote the file
//   bytes 12..16  the version of the body's format
//   bytes 16..24  the body's length in bytes; the file ends there
//   bytes 24..32  CRC-64/XZ of the body
//   bytes 32..40  CRC-64/XZ of bytes 0..32
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace rondo {

/// A kind of file.
struct file_format {
  std::string_view magic;  // 8 characters
  std::uint32_t version;
  std::string_view what;           // for errors: "a checkpoint"
  std::uint32_t oldest = version;  // that can still be read
};

/// Why a file is refused, without its name.
struct file_refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Replaces the file as a whole (replace_file in runtime/files/durable_file.hpp). Throws std::runtime_error with the
/// file and the reason.
void write_checked_file(std::filesystem::path const& file, file_format const& format,
                        std::span<std::byte const> body);

class checked_file {
 public:
  /// Reads a file. Throws std::runtime_error with the file and the reason if it cannot be read, is torn, damaged, or of
  /// another kind, version or byte order, or its body has more than `limit_bytes`.
  checked_file(std::filesystem::path const& file, file_format const& format, std::uint64_t limit_bytes);
  /// Aligned to 8 bytes. Valid while this object is.
  std::span<std::byte const> body() const noexcept;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace rondo
