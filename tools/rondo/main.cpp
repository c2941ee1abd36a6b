// The rondo command; and rondo-serve, which is the same without `overlay`.
#include <CLI/CLI.hpp>

#include "actors/basics/basics_module.hpp"
#include "generated/basics_schema.hpp"
#include "runtime/service/commands.hpp"
#ifdef RONDO_WITH_NATS
#include "runtime/service/nats_service.hpp"
#endif
#include "tools/rondo/exit_codes.hpp"
#ifdef RONDO_WITH_OVERLAY
#include "tools/rondo/overlay_command.hpp"
#endif
#include "tools/rondo/top_command.hpp"

#ifdef RONDO_WITH_NATS
auto const nats = rondo::service::make_nats_service;
#else
rondo::service::bridge_maker const nats;  // none: `--nats` is refused
#endif

int main(int argc, char** argv) {
  CLI::App app{"Rondo: actors that live inside a kernel that never ends"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "rondo " RONDO_VERSION);
  app.footer(
      "Examples:\n"
      "  rondo serve --actor clicks=counter &                host an actor of the built-in module\n"
      "  rondo tell clicks add '{\"amount\": 40}'            send it a message\n"
      "  rondo ask clicks add_and_get '{\"amount\": 2}'      send another, and print the answer\n"
      "  rondo describe                                      what can be sent to whom\n"
      "  rondo top                                           watch it all\n"
#ifdef RONDO_WITH_OVERLAY
      "  rondo overlay --output people.mp4                   actors that follow people through a video\n"
#endif
      "Each command has its own --help, with examples.");
  int exit_status = rondo::tools::exit_done;
#ifdef RONDO_WITH_OVERLAY
  rondo::tools::add_overlay_command(app, exit_status);
#endif
  auto const basics = rondo::service::module_for_service(rondo::use<rondo::basics::basics_module>,
                                                         {rondo::generated::basics_schema()}, nats);
  rondo::service::add_serve_command(app, basics, exit_status);
  rondo::service::add_replay_command(app, basics, exit_status);
  rondo::service::add_client_commands(app, exit_status);
  rondo::tools::add_top_command(app, exit_status);
  return rondo::service::run_app(app, argc, argv, exit_status);
}
