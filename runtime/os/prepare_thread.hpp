// Setup of a thread: its name and its core.
#pragma once

#include <string>
#include <vector>

namespace rondo {

/// Names the calling thread for debuggers, and pins it to `core` unless that is negative.
void prepare_thread(std::string const& name, int core);
/// The cores on which the calling thread may run (its affinity mask), in ascending order; empty if the system
/// does not report them.
std::vector<int> allowed_cores();

}  // namespace rondo
