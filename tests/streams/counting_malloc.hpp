// An allocator that replaces malloc for the whole process and counts the calls of our own code.
//
// Counted, on any thread: allocations by code of this executable (Rondo, its handlers, the job, templates of Boost and
// the standard library), by libstdc++ (where operator new ends), by libfmt, and by the C library on their behalf. Not
// counted: allocations by other libraries, which are FFmpeg and its dependencies; they allocate for each frame that
// they decode or encode. The return address of malloc identifies the caller.
// Memory that is mapped without malloc is not seen.
#pragma once

#include <cstdint>

namespace counting {

/// Starts counting allocations. Threads: one, and not again before `end`.
void begin();
struct counts {
  std::uint64_t ours = 0, of_libraries = 0;
};
/// The number of counted allocations.
counts end();
/// Prints the callers of the first few counted allocations to standard error.
void print_stacks();

}  // namespace counting
