// The rondo command: what the programs rondo and rondo-serve have in common.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace rondo::tools {

/// Commands that a program has besides those of both, and a line of examples for its help.
struct more_commands {
  void (*add)(CLI::App& app, int& exit_status) = nullptr;  // none
  std::string examples{};
};

/// A whole program; returns its exit status (exit_codes.hpp).
int run_command(int argc, char** argv, more_commands const& more = {});

}  // namespace rondo::tools
