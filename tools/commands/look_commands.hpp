// The commands list, inspect and describe: tables for people, JSON for programs.
//
// Threads: the main one. Private to the library.
#pragma once

namespace CLI {
class App;
}

namespace rondo::service {

void add_look_commands(CLI::App& app, int& exit_status);

}  // namespace rondo::service
