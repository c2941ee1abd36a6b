#include "tools/rondo/overlay_command.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/commands/options.hpp"
#include "tools/overlay/overlay_options.hpp"

namespace rondo::tools {

namespace {

constexpr char const* example_input = "/usr/share/doc/opencv-doc/examples/data/vtest.avi";

}  // namespace

void add_overlay_command(CLI::App& app, int& exit_status) {
  auto const o = std::make_shared<overlay_options>();
  auto* const c = app.add_subcommand("overlay", "Draw tracked movement over videos of fixed cameras");
  c->add_option("--input", o->inputs,
                std::string("video file, device or URL, once per camera (default: ") + example_input + ")");
  auto* const output =
      c->add_option("--output", o->output, "MP4 file to write; with several cameras out.mp4, out-2.mp4, ...");
  auto* const none = c->add_flag("--no-output", o->no_output, "encode nothing, to measure the actors alone");
  output->excludes(none);
  c->add_option("--stills", o->stills, "directory for five PNG pictures of each clip")
      ->check(CLI::ExistingDirectory);
  service::add_number(*c, "--frames", o->frames, "stop after this many frames of each clip", 1,
                      1'000'000'000);
  c->add_option("--device", o->device, "auto, cpu, emulated, cuda, cuda:N or metal");
  service::add_number(*c, "--teams", o->teams, "teams that run handlers; 0: one per core", 0, 65536);
  service::add_number(*c, "--tiles", o->tiles, "bands that each frame is split into (default: four per team)",
                      1, 1024);
  service::add_number(*c, "--buffers", o->buffers, "frames of one camera in flight at once", 1, 16)
      .default_str(std::to_string(o->buffers));
  c->add_flag("--preload", o->preload, "decode everything before starting the clock");
  c->add_flag("--explain", o->explain, "also print the copies per frame: required and made");
  c->add_option("--config", o->config_file, "JSON file with the runtime's configuration");
  auto* const checkpoint = c->add_option(
      "--checkpoint", o->checkpoint,
      "save the actors' states to this file; if it exists, resume from it and write out-from-N.mp4");
  service::add_number(*c, "--checkpoint-every", o->checkpoint_every,
                      "frames of the first camera between checkpoints", 1, 1'000'000'000)
      .default_str(std::to_string(o->checkpoint_every))
      ->needs(checkpoint);
  c->footer(
      std::string(
          "While it runs, Ctrl-C finishes the file, prints the summary and exits; SIGUSR1, or s and Enter,\n"
          "saves the next frame as a picture; p and Enter pauses and resumes.\n"
          "With several cameras the status is that of the first one that failed; the others run to their "
          "end.\n\n") +
      service::exit_status_help());
  c->callback([o, &exit_status] {
    if (o->output.empty() && !o->no_output)
      throw CLI::ValidationError("--output", "is missing: pass a file, or --no-output");
    if (o->inputs.empty()) o->inputs.push_back(example_input);
    exit_status = run_overlay(*o);
  });
}

}  // namespace rondo::tools
