// The rondo command: what the programs rondo and rondo-serve share.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace rondo::tools {

/// The additional commands of a program, and a line of examples for its help.
struct more_commands {
  void (*add)(CLI::App& app, int& exit_status) = nullptr;  // none
  std::string examples{};
};

/// Runs the whole program. Returns its exit status (exit_codes.hpp).
int run_command(int argc, char** argv, more_commands const& more = {});

}  // namespace rondo::tools
