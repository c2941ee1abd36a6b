// The program rondo: all commands.
#include "tools/rondo/command.hpp"
#include "tools/rondo/overlay_command.hpp"

int main(int argc, char** argv) {
  return rondo::tools::run_command(argc, argv,
                                   {.add = rondo::tools::add_overlay_command,
                                    .examples = "  rondo overlay --output people.mp4                   "
                                                "track people in a video\n"});
}
