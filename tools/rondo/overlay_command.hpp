// `rondo overlay`: its options, and what --help says.
#pragma once

namespace CLI {
class App;
}

namespace rondo::tools {

/// Adds the subcommand to `app`; when it is chosen, it runs and sets `exit_status`.
void add_overlay_command(CLI::App& app, int& exit_status);

}  // namespace rondo::tools
