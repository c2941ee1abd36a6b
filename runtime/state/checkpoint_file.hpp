// The format of a checkpoint file: a checked file (runtime/state/checked_file.hpp) "RONDOCKP" whose body is one
// FlatBuffer (schemas/checkpoint.fbs).
//
// States and payloads are raw bytes, so a file fits only the module (by names and sizes) and the byte order
// that wrote it. `notes` were added later: an older file has none, and an older program
// ignores them. `followers` came with version 4; a file of version 3 has none. All contents are checked here, so that
// users of an image can trust it.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "runtime/base/module_info.hpp"
#include "runtime/state/checkpoint_image.hpp"

namespace rondo {

inline constexpr std::uint32_t checkpoint_version = 4;

/// Writes `image` of a runtime with this module; see replace_file (durable_file.hpp) for durability.
/// Throws std::runtime_error, also for an image of 2 GiB or more, which is too large for the format.
void write_checkpoint(std::filesystem::path const& file, checkpoint_image const& image,
                      std::vector<behaviour_info> const& module);

/// Throws std::runtime_error with the file and the reason if it cannot be read, is torn, damaged, or
/// foreign, or was written by another module, version, or byte order.
checkpoint_image read_checkpoint(std::filesystem::path const& file,
                                 std::vector<behaviour_info> const& module);

/// The body of a checkpoint file. Throws std::runtime_error for an image that is too large.
std::vector<std::byte> encode_checkpoint_body(checkpoint_image const& image,
                                              std::vector<behaviour_info> const& module);

/// Decodes a body, without checking its checksum; everything else is validated. Precondition: `body`
/// is aligned to 8 bytes. Throws std::runtime_error with the reason.
checkpoint_image decode_checkpoint_body(std::span<std::byte const> body,
                                        std::vector<behaviour_info> const& module);

}  // namespace rondo
