// `rondo top`: a live dashboard of a running service.
#pragma once

namespace CLI {
class App;
}

namespace rondo::tools {

void add_top_command(CLI::App& app, int& exit_status);

}  // namespace rondo::tools
