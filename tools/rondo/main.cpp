// The program rondo: all commands.
#include "tools/rondo/command.hpp"
#include "tools/stream/overlay_command.hpp"
#include "tools/stream/render_command.hpp"
#include "tools/stream/stream_command.hpp"
#include "tools/workloads/run_command.hpp"

namespace {

void add_more_commands(CLI::App& app, int& exit_status) {
  rondo::tools::add_overlay_command(app, exit_status);
  rondo::tools::add_stream_command(app, exit_status);
  rondo::tools::add_render_command(app, exit_status);
  rondo::tools::add_run_command(app, exit_status);
}

}  // namespace

int main(int argc, char** argv) {
  return rondo::tools::run_command(argc, argv,
                                   {.add = add_more_commands,
                                    .examples = "  rondo overlay --output people.mp4                   "
                                                "track people in a video\n"
                                                "  rondo stream clip.json                              "
                                                "run a graph of stages\n"
                                                "  rondo render scene.json scene.png                   "
                                                "draw a scene\n"
                                                "  rondo run pagerank links.txt                        "
                                                "rank the vertices of a graph\n"});
}
