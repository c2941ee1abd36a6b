#include "tools/stream/stream_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "actors/video/hardware/list_codecs.hpp"
#include "actors/video/media/camera.hpp"
#include "runtime/text/nearest_name.hpp"
#include "tools/commands/command_line.hpp"
#include "tools/stream/run_graphs.hpp"
#include "tools/stream/stream_list.hpp"
#include "tools/stream_module/stream_module.hpp"

namespace rondo::tools {

namespace {

using service::command_error;

/// What this machine has for a stage.
std::string list_here(std::string_view stage) {
  if (stage == "camera") return video::list_cameras();
  if (stage == "file_sink") return video::list_hardware_encoders();
  if (stage == "file_source") return video::list_hardware_decoders();
  return {};
}

void print_list(streams::stage_catalog const& catalog, std::string const& type) {
  if (type.empty()) return fmt::print("{}", list_stages(catalog));
  auto const* const kind = catalog.find(type);
  if (kind != nullptr) return fmt::print("{}{}", list_stage(*kind), list_here(kind->short_name()));
  std::vector<std::string> names;
  for (auto const* k : catalog.all()) names.emplace_back(k->short_name());
  throw command_error(exit_usage, fmt::format("--list: there are no stages of the type '{}'{}", type,
                                              did_you_mean(type, names)));
}

}  // namespace

void add_stream_command(CLI::App& app, int& exit_status) {
  auto const a = std::make_shared<stream_arguments>();
  auto const listed = std::make_shared<std::string>();
  auto const lists = std::make_shared<bool>(false);
  auto& c = service::add_command(app, "stream", "Run the graph of stages that a file describes", exit_status,
                                 [a, listed, lists, &exit_status] {
                                   auto const catalog = streams::stage_catalog::of<stream_stages>();
                                   if (*lists) return print_list(catalog, *listed);
                                   if (a->file.empty())
                                     throw command_error(exit_usage, "stream: name a file, or --list");
                                   exit_status = run_graphs(*a, {load(*a, catalog)}, a->file);
                                 });
  c.add_option("file", a->file, "JSON file with a graph");
  c.add_option_function<std::string>(
       "--list",
       [listed, lists](std::string const& type) {
         *lists = true;
         *listed = type;
       },
       "list the types of stages, or one type's ports and options")
      ->expected(0, 1)
      ->option_text("[STAGE]")
      ->trigger_on_parse();
  c.add_flag("--explain", a->explain, "print places, copies and why, and exit");
  c.add_option("--svg", a->svg, "draw the graph into this file, and exit");
  c.add_option("--set", a->set, "set an option: STAGE.OPTION=VALUE")->take_all();
  service::add_number(c, "--rate", a->rate, "ticks per second; 0: as fast as the sinks take the frames", 0.0,
                      1e6);
  service::add_number(c, "--ticks", a->ticks, "end after so many ticks", 1, 1'000'000'000'000'000);
  c.add_option("--device", a->device,
               "auto, cpu, emulated, cuda, cuda:N, opencl, opencl:NAME, metal, or several with commas");
  c.add_option("--listen", a->listen, "endpoint for `rondo top`: unix:PATH or tcp:ADDRESS:PORT");
  c.add_option("--metrics", a->metrics, "ADDRESS:PORT at which Prometheus reads metrics");
  auto* const checkpoint =
      c.add_option("--checkpoint", a->checkpoint,
                   "file from which the graph goes on, if it is there, and which is written now and then");
  service::add_number(c, "--checkpoint-every", a->checkpoint_every, "seconds between checkpoints", 0.001, 1e6)
      .default_str(fmt::to_string(a->checkpoint_every))
      ->needs(checkpoint);
  c.add_flag("--quiet", a->quiet, "show no progress and no table");
  c.footer(
      std::string("Ctrl-C ends the graph; frames under way arrive first. p and Enter pauses and resumes.\n"
                  "SIGUSR1, or s and Enter, has each still_sink with `on_request` write a picture.\n"
                  "A video is called NAME.part until it is finished.\n"
                  "Examples:\n  rondo stream --list blur\n  rondo stream clip.json --explain\n"
                  "  rondo stream clip.json --set soft.sigma=3 --ticks 300\n\n") +
      service::exit_status_help());
}

}  // namespace rondo::tools
