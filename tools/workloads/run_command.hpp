// `rondo run`: workloads that show what actors do, on data of the user or made up.
#pragma once

namespace CLI {
class App;
}

namespace rondo::tools {

/// Adds the subcommand to `app`. If it is chosen, it runs and sets `exit_status`.
void add_run_command(CLI::App& app, int& exit_status);

}  // namespace rondo::tools
