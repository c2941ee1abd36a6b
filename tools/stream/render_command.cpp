#include "tools/stream/render_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include "actors/video/files/still.hpp"
#include "runtime/text/named_field.hpp"
#include "tools/commands/command_line.hpp"
#include "tools/stream/run_graphs.hpp"
#include "tools/stream_module/stream_module.hpp"

namespace rondo::tools {

namespace {

namespace fs = std::filesystem;
using streams::stream_file;

constexpr double default_rate = 60;

struct render_options {
  stream_arguments run;
  std::string output;
  bool profiles = false;
};

/// The only output with such frames that nothing reads.
std::pair<std::uint32_t, std::uint32_t> find_picture(stream_file const& scene, std::string_view frame) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open;
  std::string names;
  for (std::uint32_t s = 0; s < scene.stages.size(); ++s) {
    auto const& outputs = scene.stages[s].kind->outputs;
    for (std::uint32_t o = 0; o < outputs.size(); ++o) {
      auto const reads = [&](stream_file::connection const& c) { return c.from == s && c.output == o; };
      if (outputs[o].frame != frame || std::ranges::any_of(scene.connections, reads)) continue;
      open.emplace_back(s, o);
      names += fmt::format("{}{}.{}", names.empty() ? "" : ", ", scene.stages[s].name, outputs[o].name);
    }
  }
  if (open.size() == 1) return open.front();
  throw config_error(
      open.empty()
          ? "render: every picture of the scene is connected; leave the one that is to be drawn without "
            "a reader, or run the file with `rondo stream`"
          : fmt::format("render: pictures that nothing reads are {}; a scene has one", names));
}

/// The sources from which a stage has its frames, by number.
std::set<std::uint32_t> sources_of(stream_file const& scene, std::uint32_t stage) {
  std::set<std::uint32_t> seen{stage}, sources;
  for (std::vector<std::uint32_t> left{stage}; !left.empty();) {
    auto const s = left.back();
    left.pop_back();
    bool is_source = true;
    for (auto const& c : scene.connections) {
      if (c.to != s) continue;
      is_source = false;
      if (seen.insert(c.from).second) left.push_back(c.from);
    }
    if (is_source) sources.insert(s);
  }
  return sources;
}

/// Optional inputs have the newest frame there is, which is right for somebody who watches. What comes from the source
/// of the stage's other inputs belongs to them: it is waited for, unless the scene says otherwise.
void wait_for_all(stream_file& scene) {
  for (auto& c : scene.connections) {
    if (c.how.how || scene.stages[c.to].kind->inputs[c.input].how != streams::delivery::latest) continue;
    auto const own = sources_of(scene, c.from);
    bool is_alone = true, is_shared = false;
    for (auto const& other : scene.connections) {
      if (other.to != c.to || other.input == c.input) continue;
      auto const others = sources_of(scene, other.from);
      is_alone = false;
      is_shared = is_shared || std::ranges::any_of(own, [&](auto s) { return others.contains(s); });
    }
    if (is_alone || is_shared) c.how.how = streams::delivery::lossless;
  }
}

stream_file scene_of(render_options const& o) {
  auto const catalog = streams::stage_catalog::of<stream_stages>();
  auto as_it_is = o.run;  // what is set may be an option of the stage that is added
  as_it_is.set.clear();
  auto scene = load(as_it_is, catalog);
  bool const still = video::why_no_still(o.output).empty();
  auto const& kind = *catalog.find(still ? "still_sink" : "file_sink");
  std::string const name = "rendered";
  auto const [from, output] = find_picture(scene, kind.inputs.front().frame);
  auto const to = streams::add_stage(scene, name, kind);
  scene.connections.push_back({.from = from, .output = output, .to = to});
  // Braces stand for themselves; only pictures have numbers.
  auto const text = still ? o.output : with_field(o.output, "tick", "{{tick}}");
  streams::set_option(scene, fmt::format("{}.file={}", name, with_field(text, "n", "{{n}}")), "render");
  if (still && o.output.find("{tick}") == std::string::npos && scene.graph.ticks == 0) scene.graph.ticks = 1;
  scene.graph.paced = false;  // each frame is drawn, however long that takes
  wait_for_all(scene);
  for (auto const& assignment : o.run.set) streams::set_option(scene, assignment, "--set");
  return scene;
}

}  // namespace

void add_render_command(CLI::App& app, int& exit_status) {
  auto const o = std::make_shared<render_options>();
  auto& c = service::add_command(app, "render", "Draw a scene into a picture or a video", exit_status,
                                 [o, &exit_status] {
                                   if (o->output.empty())
                                     o->output = fs::path(o->run.file).stem().string() + ".png";
                                   auto scene = scene_of(*o);
                                   auto const rate = scene.graph.rate > 0 ? scene.graph.rate : default_rate;
                                   if (!o->profiles)
                                     o->run.budget_ms = 0;
                                   else if (o->run.budget_ms == 0)
                                     o->run.budget_ms = 1e3 / rate;
                                   exit_status = run_graphs(o->run, {std::move(scene)}, o->run.file);
                                 });
  c.add_option("scene", o->run.file, "JSON file with a graph, one of whose pictures nothing reads")
      ->required();
  c.add_option(
      "clip", o->output,
      "video or picture to write; {tick} in a picture's name writes all (default: a picture named as the "
      "scene)");
  c.add_option("--set", o->run.set, "set an option: STAGE.OPTION=VALUE; the stage `rendered` writes the clip")
      ->take_all();
  service::add_number(c, "--rate", o->run.rate, "frames per second of the clip", 0.0, 1e6);
  service::add_number(c, "--ticks", o->run.ticks, "end after so many frames", 1, 1'000'000'000'000'000);
  c.add_option("--device", o->run.device,
               "auto, cpu, emulated, cuda, cuda:N, opencl, opencl:NAME, metal, or several with commas");
  auto* const profile = c.add_flag(
      "--profile", o->profiles, "print the time and memory of each stage, and whether the budget was kept");
  service::add_number(c, "--budget", o->run.budget_ms,
                      "ms for a frame (default: as the rate, or 60 per second)", 0.001, 1e6)
      .needs(profile);
  c.add_flag("--explain", o->run.explain, "print places, copies and why, and exit");
  c.add_flag("--quiet", o->run.quiet, "show no progress and no table");
  c.footer(std::string("Examples:\n  rondo render scene.json scene.png\n"
                       "  rondo render scene.json scene.mp4 --ticks 300 --profile\n\n") +
           service::exit_status_help());
}

}  // namespace rondo::tools
