#include "runtime/os/start_thread.hpp"

#include <fmt/format.h>

namespace rondo {

no_thread::no_thread(std::string_view what, std::string_view why)
    : std::runtime_error(fmt::format(
          "no thread can be started for {}: {}; raise the limit of threads (ulimit -u, TasksMax= of a "
          "systemd unit, --pids-limit of a container), or lower `teams`",
          what, why)) {}

}  // namespace rondo
