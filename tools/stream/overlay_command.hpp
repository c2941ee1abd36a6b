// `rondo overlay`: tracked movement, drawn over the videos of fixed cameras. Each camera has a graph as `rondo stream`
// runs them; all are on one runtime.
#pragma once

namespace CLI {
class App;
}

namespace rondo::tools {

/// Adds the subcommand to `app`. If it is chosen, it runs and sets `exit_status`.
void add_overlay_command(CLI::App& app, int& exit_status);

}  // namespace rondo::tools
