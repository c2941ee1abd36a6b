// An allocator that counts: every malloc of the process goes through it, by its own name, and those of our own code count.
//
// Counted, on whatever thread: what is asked for by code of this executable (Rondo, its handlers, the job, templates of
// Boost and the standard library), by libstdc++ (operator new ends there), by libfmt, and by the C library on their
// behalf. Not counted: what other libraries ask for themselves. Those are FFmpeg and what it uses, which allocate for each
// frame they decode or encode; who asks is told by the address that malloc returns to.
// Not seen: memory that is mapped without malloc.
#pragma once

#include <cstdint>

namespace counting {

/// From here on allocations count. Threads: one, not again before `end`.
void begin();
struct counts {
  std::uint64_t ours = 0, of_libraries = 0;
};
/// So many were counted.
counts end();
/// To standard error: who made the first few of ours that were counted last.
void print_stacks();

}  // namespace counting
