// `rondo render`: draws a scene into a picture or a video. A scene is a graph as `rondo stream` runs them, one of whose
// outputs is connected to nothing: that is what it draws.
#pragma once

namespace CLI {
class App;
}

namespace rondo::tools {

/// Adds the subcommand to `app`. If it is chosen, it runs and sets `exit_status`.
void add_render_command(CLI::App& app, int& exit_status);

}  // namespace rondo::tools
