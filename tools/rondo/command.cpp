#include "tools/rondo/command.hpp"

#include <CLI/CLI.hpp>

#include "actors/basics/basics_module.hpp"
#include "generated/basics_schema.hpp"
#include "tools/commands/commands.hpp"
#ifdef RONDO_WITH_NATS
#include "runtime/nats/nats_service.hpp"
#endif
#include "runtime/device/emulated/emulated_module.hpp"
#include "tools/commands/exit_codes.hpp"
#include "tools/commands/options.hpp"
#include "tools/rondo/top_command.hpp"

RONDO_EMULATED_MODULE(rondo::basics::basics_module)

namespace rondo::tools {

namespace {

#ifdef RONDO_WITH_NATS
auto const nats = service::make_nats_service;
#else
service::bridge_maker const nats;  // none: `--nats` is refused
#endif

}  // namespace

int run_command(int argc, char** argv, more_commands const& more) {
  CLI::App app{"Rondo: actors that live inside a kernel that never ends"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "rondo " RONDO_VERSION);
  app.footer(
      std::string(
          "Examples:\n"
          "  rondo serve --actor clicks=counter &                host one actor of the built-in module\n"
          "  rondo tell clicks add '{\"amount\": 40}'              send it a message\n"
          "  rondo ask clicks add_and_get '{\"amount\": 2}'        send a message and print the answer\n"
          "  rondo describe                                      list actor types and their messages\n"
          "  rondo top                                           watch actors, devices and memory\n") +
      more.examples + "Run 'rondo COMMAND --help' for the options of a command.\n\n" +
      service::exit_status_help());
  int exit_status = exit_done;
  if (more.add != nullptr) more.add(app, exit_status);
  auto const basics =
      service::module_for_service(use<basics::basics_module>, {generated::basics_schema()}, nats);
  service::add_serve_command(app, basics, exit_status);
  service::add_replay_command(app, basics, exit_status);
  service::add_client_commands(app, exit_status);
  add_top_command(app, exit_status);
  return service::run_app(app, argc, argv, exit_status);
}

}  // namespace rondo::tools
