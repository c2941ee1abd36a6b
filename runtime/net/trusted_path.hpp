// Checks that only this user and root can replace what a path leads to.
#pragma once

#include <filesystem>
#include <string>

namespace rondo {

/// Checks `folder` and all folders above it. Each must be a directory that belongs to this user or to root, and that no
/// other user can write to, unless it is sticky, as /tmp is. Returns an empty string if so, else which folder is wrong
/// and why.
std::string why_not_trusted(std::filesystem::path const& folder);

/// The same for a file whose contents this process obeys: it, and a link to it, must belong to this user or to root,
/// and nobody else may write to it. Its folder is not checked.
std::string why_not_own(std::filesystem::path const& file);

}  // namespace rondo
