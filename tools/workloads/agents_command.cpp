// `rondo run agents`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "actors/video/ffmpeg/video_errors.hpp"
#include "actors/video/files/still.hpp"
#include "actors/video/files/video_writer.hpp"
#include "actors/workloads/run_flock.hpp"
#include "tools/workloads/flock_picture.hpp"
#include "tools/workloads/workload_options.hpp"
#include "tools/workloads_module/workloads_module.hpp"

namespace rondo::tools {

namespace {

using namespace workloads;
using service::command_error;

struct agents_options {
  workload_options run;
  std::uint32_t agents = 1'000'000;
  std::uint64_t seed = 1;
  flock_options how;
  std::string video;
  std::uint32_t frames_per_s = 30;
};

/// A video to which each step adds a frame.
class flock_video {
 public:
  flock_video(std::string const& file, std::uint32_t frames_per_s)
      : picture_(frames_per_s), writer_(file, {}), frames_per_s_(frames_per_s) {
    writer_.begin(picture_.about());
  }
  void add(std::span<agent const> agents) {
    picture_.draw(agents);
    writer_.write(picture_.data(), {frames_++ * 1'000'000'000 / frames_per_s_, 0});
  }
  void close() { writer_.close(); }

 private:
  flock_picture picture_;
  video::video_writer writer_;
  std::uint64_t frames_ = 0;
  std::uint32_t frames_per_s_;
};

double updates_per_s(agents_options const& o, flock_flight const& flight) {
  return flight.seconds > 0 ? static_cast<double>(o.agents) * o.how.steps / flight.seconds : 0;
}

std::string to_json(agents_options const& o, flock_flight const& flight) {
  return fmt::format(
      "{{\"agents\": {}, \"steps\": {}, \"seed\": {}, \"seconds\": {:.6f}, \"updates_per_s\": {:.6g}, "
      "\"checksum\": \"{:016x}\"}}\n",
      o.agents, o.how.steps, o.seed, flight.seconds, updates_per_s(o, flight), checksum(flight.agents));
}

void print(agents_options const& o, flock_flight const& flight) {
  fmt::print("{} agents, {} steps in {:.3f} s: {:.1f} M updates/s\n", o.agents, o.how.steps, flight.seconds,
             updates_per_s(o, flight) * 1e-6);
  fmt::print("checksum {:016x}: the same on every device\n", checksum(flight.agents));
}

void run_agents(agents_options const& o) {
  file_uses uses;
  uses.writes("--picture", o.run.picture);
  uses.writes("--video", o.video);
  service::require_own_files(uses);
  require_writable("run agents", o.run.picture);
  auto const bytes = flock_bytes(o.agents, o.how);
  require_memory("run agents: the flock", bytes + 2 * sizeof(agent) * std::uint64_t{o.agents});
  runtime rt{use<workloads_module>, o.run.settings(bytes)};
  try {
    std::optional<flock_video> film;
    if (!o.video.empty()) film.emplace(o.video, o.frames_per_s);

    progress_lines progress(o.run.is_quiet);
    flock_watch watch;
    watch.report = [&](std::uint32_t steps) {
      if (progress.is_due()) progress.show(fmt::format("rondo: step {} of {}", steps, o.how.steps));
    };
    if (film) watch.show = [&](std::span<agent const> agents) { film->add(agents); };
    auto const flight = fly_flock(rt, scattered(o.agents, o.seed), o.how, watch);

    if (film) film->close();
    if (!o.run.picture.empty()) {
      flock_picture picture(o.frames_per_s);
      picture.draw(flight.agents);
      video::write_still(o.run.picture, picture.about(), picture.data());
    }
    if (o.run.is_json)
      fmt::print("{}", to_json(o, flight));
    else
      print(o, flight);
  } catch (video::video_error const& e) {
    throw command_error(exit_no_output, fmt::format("run agents: {}", e.what()));
  }
}

}  // namespace

void add_agents_command(CLI::App& run, int& exit_status) {
  auto const o = std::make_shared<agents_options>();
  auto& c = service::add_command(run, "agents", "Let a flock fly whose agents see their neighbours",
                                 exit_status, [o] { run_agents(*o); });
  service::add_number(c, "--agents", o->agents, "how many there are (1000000)", 1, most_agents);
  service::add_number(c, "--steps", o->how.steps, "how many steps they fly (100)", 1, 1'000'000);
  service::add_number(c, "--seed", o->seed, "of their first places: the same seed, the same flight (1)", 0,
                      ~std::uint64_t{0});
  service::add_number(
      c, "--radius", o->how.sight,
      "how far they see, as a part of the world's side (so far that they see about nine others)", least_sight,
      most_sight);
  c.add_option("--video", o->video, "write a video with a frame for each step, such as flock.mp4");
  service::add_number(c, "--frames-per-s", o->frames_per_s, "of the video (30)", 1, 240);
  o->run.add_to(c, "where they are at the end, in the colours of their directions");
  c.footer(std::string("Examples:\n  rondo run agents --picture flock.png\n"
                       "  rondo run agents --agents 100000 --steps 600 --video flock.mp4\n\n") +
           service::exit_status_help());
}

}  // namespace rondo::tools
