// Whether only this user, and root, can put something else where a path leads.
#pragma once

#include <filesystem>
#include <string>

namespace rondo::service {

/// Looks at `folder` and all above it. Each must be a directory that belongs to this user or to root, and that nobody else
/// can write in, unless it is sticky, as /tmp is. Empty: so it is; else what is wrong, and with which folder.
std::string why_not_trusted(std::filesystem::path const& folder);

}  // namespace rondo::service
