// `rondo overlay`: its options and its help.
#pragma once

namespace CLI {
class App;
}

namespace rondo::tools {

/// Adds the subcommand to `app`. If it is chosen, it runs and sets `exit_status`.
void add_overlay_command(CLI::App& app, int& exit_status);

}  // namespace rondo::tools
