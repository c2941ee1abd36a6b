// Replaces a file so that its name always leads to a complete one, old or new, whatever dies meanwhile.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace rondo {

/// Writes `parts` one after the other to `<file>.tmp-<pid>` in the same directory, brings them to the disk,
/// renames them to `file`, and brings the directory to the disk. Threads: not two for one file at once.
/// Throws std::runtime_error naming the file and the reason; the old file is then as it was (but for a
/// failure after the rename, which the text says) and the temporary one is removed. What a writer of the same
/// file left behind when it was killed is removed first, if no process has its number any more; so processes
/// that write one file must see each other's numbers (share a PID namespace).
void replace_file(std::filesystem::path const& file, std::span<std::span<std::byte const> const> parts);

/// All bytes of `file`. Throws std::runtime_error naming the file and the reason; also when it has more than
/// `limit_bytes`.
std::vector<std::byte> read_whole_file(std::filesystem::path const& file, std::uint64_t limit_bytes);

}  // namespace rondo
