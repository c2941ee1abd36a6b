#include "tools/stream/overlay_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "actors/video/files/video_reader.hpp"
#include "runtime/text/named_field.hpp"
#include "runtime/text/shown_url.hpp"
#include "tools/commands/command_line.hpp"
#include "tools/stream/run_graphs.hpp"
#include "tools/stream_module/stream_module.hpp"

namespace rondo::tools {

namespace {

namespace fs = std::filesystem;

constexpr char const* example_input = "/usr/share/doc/opencv-doc/examples/data/vtest.avi";

struct overlay_options {
  std::vector<std::string> inputs;
  std::string output;  // of the first camera
  bool no_output = false;
  std::string stills;
  std::uint64_t frames = 0;  // of each camera; 0: all
  bool preload = false;
  std::uint32_t buffers = 4;
  std::int32_t tiles = 4;
  std::string device;  // empty: from the configuration
  int teams = -1;      // -1: from the configuration
  std::string config_file;
  bool explain = false;
  std::string checkpoint;  // a file; empty: none
  std::uint64_t checkpoint_every = 250;
};

/// The graph of a camera: as people.json, without links, and with pictures on request.
constexpr char const* graph_text = R"({
  "stages": [
    {"name": "camera", "stage": "file_source"},
    {"name": "find", "stage": "find_movement"},
    {"name": "draw", "stage": "draw_movement"},
    {"name": "video", "stage": "<sink>"},
    <stills>
    {"name": "snapshots", "stage": "still_sink", "options": {"on_request": true}}
  ],
  "connections": [
    {"from": "camera", "to": "find"},
    {"from": "find.video", "to": "draw.video"},
    {"from": "find.drawing", "to": "draw.drawing"},
    {"from": "draw", "to": "video"},
    <sound>
    <to stills>
    {"from": "draw", "to": "snapshots"}
  ]
})";

bool is_address(std::string const& name) { return name.find("://") != name.npos && !fs::exists(name); }

/// A name as an option has it: its braces stand for themselves.
std::string as_option(std::string name) {
  return with_field(with_field(std::move(name), "tick", "{{tick}}"), "n", "{{n}}");
}

/// "out.mp4" for the first camera, "out-2.mp4" for the second, and so on.
std::string output_of(overlay_options const& o, std::size_t camera) {
  fs::path const path(o.output);
  if (camera == 1) return o.output;
  return (path.parent_path() /
          fmt::format("{}-{}{}", path.stem().string(), camera, path.extension().string()))
      .string();
}

/// Where pictures go that are taken on request.
std::string snapshots_of(overlay_options const& o) {
  if (!o.stills.empty()) return o.stills;
  auto const folder = is_address(o.output) ? fs::path() : fs::path(o.output).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// The number of pictures that are wanted of a file; 0: it cannot be known. nullopt: it cannot be opened; the graph
/// will say why.
std::optional<std::uint64_t> count_pictures(overlay_options const& o, std::string const& input) {
  std::error_code ignored;
  if (!fs::is_regular_file(input, ignored)) return o.frames;  // a pipe can be opened once
  try {
    auto const all = static_cast<std::uint64_t>(
        std::max<std::int64_t>(video::video_reader(input).frame_count_estimate(), 0));
    return all != 0 && o.frames != 0 ? std::min(all, o.frames) : std::max(all, o.frames);
  } catch (video::video_error const&) {
    return std::nullopt;
  }
}

streams::stream_file graph_of(overlay_options const& o, std::size_t camera, config const& settings) {
  auto const& input = o.inputs[camera - 1];
  auto text = std::string(graph_text);
  auto const put = [&text](std::string_view field, std::string_view value) {
    text.replace(text.find(field), field.size(), value);
  };
  put("<sink>", o.no_output ? "null_sink" : "file_sink");
  put("<sound>", o.no_output ? "" : R"({"from": "camera.sound", "to": "video.sound"},)");
  put("<stills>", o.stills.empty() ? "" : R"({"name": "stills", "stage": "still_sink"},)");
  put("<to stills>", o.stills.empty() ? "" : R"({"from": "draw", "to": "stills"},)");
  auto file = streams::parse_stream_file(text, "rondo overlay", streams::stage_catalog::of<stream_stages>());
  file.runtime = settings;
  file.graph.name = fmt::format("camera-{}", camera);
  file.graph.window = o.buffers;
  file.graph.ticks = o.frames;
  auto const set = [&file](char const* option, auto const& value, char const* origin) {
    streams::set_option(file, fmt::format("{}={}", option, value), origin);
  };
  set(is_address(input) ? "camera.url" : "camera.file", as_option(input), "--input");
  set("find.name", fmt::format("camera {}", camera), "--input");
  set("find.tiles", o.tiles, "--tiles");
  if (auto const output = output_of(o, camera); !o.no_output)
    set(is_address(output) ? "video.url" : "video.file", as_option(output), "--output");

  auto const counted = o.stills.empty() && !o.preload ? 0 : count_pictures(o, input);
  auto const pictures = counted.value_or(0);
  if (o.preload && counted == 0)
    throw service::command_error(
        exit_usage,
        fmt::format("--preload: the length of '{}' is not known; pass --frames", shown_url(input)));
  if (o.preload) set("camera.preload", pictures, "--preload");
  auto const name = [&](std::string const& folder, char const* kind) {
    return fmt::format("{}/camera-{}-{}-{{tick}}.png", as_option(folder), camera, kind);
  };
  set("snapshots.file", name(snapshots_of(o), "snapshot"), "--output");
  if (o.stills.empty()) return file;
  set("stills.file", name(o.stills, "still"), "--stills");
  set("stills.first", pictures != 0 ? pictures / 10 : 50, "--stills");
  set("stills.every", pictures != 0 ? std::max<std::uint64_t>(pictures / 5, 1) : 200, "--stills");
  set("stills.most", 5, "--stills");
  return file;
}

config settings_of(overlay_options const& o) {
  config c;
  if (!o.config_file.empty()) c = load_config(o.config_file, c);
  c = config_from_environment(c);
  if (!o.device.empty()) set_field(c, "device", o.device, "--device");
  if (o.teams >= 0) c.teams = static_cast<std::uint32_t>(o.teams);
  validate(c);
  return c;
}

exit_code run_overlay(overlay_options const& o) {
  auto settings = settings_of(o);
  bool const names_one = settings.device != "auto" && !names_host(settings.device) &&
                         settings.device.find(',') == std::string::npos;
  if (names_one) settings.device.insert(0, "cpu,");
  std::vector<streams::stream_file> files;
  for (std::size_t camera = 1; camera <= o.inputs.size(); ++camera) {
    auto& file = files.emplace_back(graph_of(o, camera, settings));
    if (names_one) file.graph.warn = [](std::string const&) {};  // of copies to the device that was asked for
    for (auto& stage : file.stages)                              // there, whatever is measured
      if (names_one && stage.kind->where == streams::works::anywhere) stage.how.device = 1;
  }
  stream_arguments a;
  a.explain_after = o.explain;
  a.checkpoint = o.checkpoint;
  a.checkpoint_ticks = o.checkpoint_every;
  return run_graphs(a, std::move(files), "overlay");
}

}  // namespace

void add_overlay_command(CLI::App& app, int& exit_status) {
  auto const o = std::make_shared<overlay_options>();
  auto& c = service::add_command(
      app, "overlay", "Draw tracked movement over videos of fixed cameras", exit_status, [o, &exit_status] {
        if (o->output.empty() && !o->no_output)
          throw service::command_error(exit_usage, "--output is missing: pass a file, or --no-output");
        if (o->inputs.empty()) o->inputs.emplace_back(example_input);
        exit_status = run_overlay(*o);
      });
  c.add_option("--input", o->inputs,
               std::string("video file or URL, once per camera (default: ") + example_input + ")");
  auto* const output = c.add_option("--output", o->output,
                                    "video file to write; with several cameras out.mp4, out-2.mp4, ...");
  auto* const none = c.add_flag("--no-output", o->no_output, "encode nothing, to measure the actors alone");
  output->excludes(none);
  c.add_option("--stills", o->stills, "directory for five PNG pictures of each clip")
      ->check(CLI::ExistingDirectory);
  service::add_number(c, "--frames", o->frames, "stop after this many frames of each clip", 1, 1'000'000'000);
  c.add_option("--device", o->device,
               "auto, cpu, emulated, cuda, cuda:N, opencl, opencl:NAME, metal, or several with commas");
  service::add_number(c, "--teams", o->teams, "teams that run handlers; 0: one per core", 0, 65536);
  service::add_number(c, "--tiles", o->tiles, "parts of a frame on which teams work at once", 1, 1024)
      .default_str(std::to_string(o->tiles));
  service::add_number(c, "--buffers", o->buffers, "frames of one camera in flight at once", 1, 16)
      .default_str(std::to_string(o->buffers));
  c.add_flag("--preload", o->preload, "decode everything before starting the clock");
  c.add_flag("--explain", o->explain, "also print places and copies");
  c.add_option("--config", o->config_file, "JSON file with the runtime's configuration");
  auto* const checkpoint = c.add_option(
      "--checkpoint", o->checkpoint,
      "file from which the cameras go on, if it is there, and which is written now and then; the next "
      "video is then called out-from-N.mp4");
  service::add_number(c, "--checkpoint-every", o->checkpoint_every,
                      "frames of the first camera between checkpoints", 1, 1'000'000'000)
      .default_str(std::to_string(o->checkpoint_every))
      ->needs(checkpoint);
  c.footer(
      std::string(
          "Each camera is a graph, as tools/stream/graphs/people.json is one: `rondo stream` runs others.\n"
          "Ctrl-C ends the cameras; frames under way arrive first. SIGUSR1, or s and Enter, saves the next\n"
          "frame as a picture; p and Enter pauses and resumes.\n"
          "With several cameras the status is that of the first one that failed; the others run to their "
          "end.\n\n") +
      service::exit_status_help());
}

}  // namespace rondo::tools
