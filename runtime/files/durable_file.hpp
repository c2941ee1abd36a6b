// Crash-safe replacement of a file: its name always refers to a complete file, old or new.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace rondo {

/// Writes `parts` one after another to `<file>.tmp-<pid>` in the same directory, syncs that file to disk,
/// renames it to `file`, and syncs the directory. Threads: one at a time per file.
/// Throws std::runtime_error with the file and the reason. The old file is then unchanged, unless the text says that
/// the failure came after the rename, and the temporary file is removed. First removes the temporary files of earlier
/// writers whose process no longer exists, so processes that write the same file must share a PID
/// namespace.
void replace_file(std::filesystem::path const& file, std::span<std::span<std::byte const> const> parts);

/// All bytes of `file`. Throws std::runtime_error with the file and the reason, also if it has more than
/// `limit_bytes`.
std::vector<std::byte> read_whole_file(std::filesystem::path const& file, std::uint64_t limit_bytes);

}  // namespace rondo
