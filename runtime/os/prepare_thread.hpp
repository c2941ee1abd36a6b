// Names threads and binds them to cores.
#pragma once

#include <string>
#include <vector>

namespace rondo {

/// Names the calling thread for debuggers, and binds it to a core unless that is negative.
void prepare_thread(std::string const& name, int core);
/// The cores that the calling thread may run on (its affinity mask), in ascending order; none when the system
/// does not say.
std::vector<int> allowed_cores();

}  // namespace rondo
