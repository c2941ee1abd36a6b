#include "tools/rondo/overlay_command.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/rondo/exit_codes.hpp"
#include "tools/rondo/overlay_options.hpp"

namespace rondo::tools {

namespace {
constexpr char const* example_input = "/usr/share/doc/opencv-doc/examples/data/vtest.avi";
}

void add_overlay_command(CLI::App& app, int& exit_status) {
  auto const o = std::make_shared<overlay_options>();
  auto* const c = app.add_subcommand("overlay", "Draw tracked movement over videos of fixed cameras");
  c->add_option("--input", o->inputs,
                std::string("A video file, device or URL; once per camera (default: ") + example_input + ")");
  auto* const output = c->add_option("--output", o->output,
                                     "The MP4 file to write; with several cameras out.mp4, out-2.mp4, ...");
  auto* const none = c->add_flag("--no-output", o->no_output, "Encode nothing: measures the actors");
  output->excludes(none);
  c->add_option("--stills", o->stills, "A directory for pictures (PNG) of five places of each clip")
      ->check(CLI::ExistingDirectory);
  c->add_option("--frames", o->frames, "End after this frame of each clip")->check(CLI::PositiveNumber);
  c->add_option("--device", o->device, "auto, cpu, emulated, cuda, cuda:N or metal");
  c->add_option("--teams", o->teams, "Teams that run handlers; 0: one per core")->check(CLI::Range(0, 65536));
  c->add_option("--tiles", o->tiles, "Bands that each frame is cut into (default: four per team)")
      ->check(CLI::Range(1, 1024));
  c->add_option("--buffers", o->buffers, "Frames of one camera under way at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 16));
  c->add_flag("--preload", o->preload, "Decode everything first, then start the clock");
  c->add_flag("--explain", o->explain,
              "Also print the copies per frame: the least that the places require, and those made");
  c->add_option("--config", o->config_file, "A JSON file with the runtime's configuration");
  auto* const checkpoint = c->add_option(
      "--checkpoint", o->checkpoint,
      "Keep the actors' states in this file; if it is there, go on from it, into out-from-N.mp4");
  c->add_option("--checkpoint-every", o->checkpoint_every,
                "Frames of the first camera between two checkpoints")
      ->capture_default_str()
      ->check(CLI::PositiveNumber)
      ->needs(checkpoint);
  c->footer(std::string(
                "While it runs: Ctrl-C ends it with a playable file and the table; SIGUSR1, or s and Enter,\n"
                "writes the next frame as a picture; p and Enter pauses and resumes.\n\n") +
            exit_codes_text);
  c->callback([o, &exit_status] {
    if (o->output.empty() && !o->no_output)
      throw CLI::ValidationError("--output", "is missing: name a file, or say --no-output");
    if (o->inputs.empty()) o->inputs.push_back(example_input);
    exit_status = run_overlay(*o);
  });
}

}  // namespace rondo::tools
