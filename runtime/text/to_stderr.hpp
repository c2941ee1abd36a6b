// Text for people on standard error, which may be closed, full, or a pipe that nobody reads.
#pragma once

#include <string_view>

namespace rondo {

/// Writes `text` to standard error. Never throws: what standard error does not take is lost, since there is no other
/// place to say so. A pipe without a reader raises SIGPIPE, which the commands ignore. Blocks while a pipe is full.
/// Threads: any; a line of one call is not mixed with those of others.
void to_stderr(std::string_view text) noexcept;

}  // namespace rondo
