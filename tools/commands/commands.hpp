// The commands that run a service and talk to it: serve, ask, tell, launch, activate, deactivate, terminate, list,
// inspect, describe, checkpoint, trace, replay.
//
// Threads: the main one. Each command sets `exit_status` to an exit_code (exit_codes.hpp).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/runtime.hpp"
#include "runtime/service/bridge.hpp"

namespace CLI {
class App;
}

namespace rondo::service {

/// A module as `serve` needs it.
struct served_module {
  std::function<std::unique_ptr<rondo::runtime>(rondo::config const&)> start;  // makes the runtime
  std::vector<std::span<std::byte const>> schemas;  // of its messages: rondo::generated::NAME_schema()
  bridge_maker nats{};                              // make_nats_service of rondo_nats; empty: no NATS
};

/// The module `m`, with the binary schemas of its messages.
template <class Module>
served_module module_for_service(use_t<Module> m, std::vector<std::span<std::byte const>> schemas,
                                 bridge_maker nats = {}) {
  return {[m](rondo::config const& c) { return std::make_unique<rondo::runtime>(m, c); }, std::move(schemas),
          std::move(nats)};
}

/// Adds `serve`.
void add_serve_command(CLI::App& app, served_module module, int& exit_status);
/// Adds `replay`.
void add_replay_command(CLI::App& app, served_module module, int& exit_status);
/// The other commands: clients of a running service.
void add_client_commands(CLI::App& app, int& exit_status);

/// Parses the command line and runs one command of `app`, which sets `exit_status`. Returns the program's exit status:
/// the command's, or 73 if its output could not be written completely.
int run_app(CLI::App& app, int argc, char** argv, int const& exit_status);

/// A whole program with the commands above.
int run_commands(int argc, char** argv, served_module module);

}  // namespace rondo::service

namespace rondo {

/// The main function of a program that serves its own module, with every command above:
///
///   int main(int argc, char** argv) {
///     return rondo::serve_main(argc, argv, rondo::use<my_module>, {rondo::generated::my_messages_schema()});
///   }
///
/// Pass rondo::service::make_nats_service (of the library rondo_nats) as the last argument to support NATS.
template <class Module>
int serve_main(int argc, char** argv, use_t<Module> module, std::vector<std::span<std::byte const>> schemas,
               service::bridge_maker nats = {}) {
  return service::run_commands(argc, argv,
                               service::module_for_service(module, std::move(schemas), std::move(nats)));
}

}  // namespace rondo
