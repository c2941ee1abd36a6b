// The command stream: runs the graph of stages that a file describes.
#pragma once

namespace CLI {
class App;
}

namespace rondo::tools {

/// Adds `stream`.
void add_stream_command(CLI::App& app, int& exit_status);

}  // namespace rondo::tools
