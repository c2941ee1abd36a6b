// list, inspect and describe: what a service says of its actors, for people, or as JSON for programs.
//
// Threads: the main one. Private to the library.
#pragma once

namespace CLI {
class App;
}

namespace rondo::service {

void add_look_commands(CLI::App& app, int& exit_status);

}  // namespace rondo::service
