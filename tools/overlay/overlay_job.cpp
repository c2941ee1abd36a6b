#include "tools/overlay/overlay_job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <thread>

#include "runtime/checkpoint.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/observe/telemetry.hpp"
#include "runtime/os/start_thread.hpp"
#include "runtime/text/clean_text.hpp"
#include "runtime/text/to_stderr.hpp"
#include "tools/overlay/overlay_summary.hpp"

RONDO_EMULATED_MODULE(rondo::overlay::overlay_module)

namespace rondo::tools {

namespace {

/// A line on standard error. Names of files in it may be anything.
void complain(std::string_view text) { to_stderr(fmt::format("rondo overlay: {}\n", clean_text(text))); }

}  // namespace

std::string output_of(overlay_options const& options, std::uint32_t camera) {
  if (options.no_output) return {};
  std::filesystem::path const path(options.output);
  if (camera == 1) return options.output;
  return (path.parent_path() /
          fmt::format("{}-{}{}", path.stem().string(), camera, path.extension().string()))
      .string();
}

int run_overlay(overlay_options const& options) {
  overlay_job job(options);
  try {
    if (job.open()) job.run();
  } catch (config_error const& e) {
    complain(e.what());
    return exit_bad_config;
  } catch (overlay_job::device_error const& e) {
    complain(e.what());
    return exit_unavailable;
  } catch (no_thread const& e) {
    complain(e.what());
    return exit_unavailable;
  } catch (std::exception const& e) {
    complain(e.what());
    return exit_internal;
  }
  return job.status();
}

// -- opening

bool overlay_job::open() {
  auto const wanted = settings();  // first: a wrong configuration is reported before anything is opened
  if (auto const why = files().conflict(); !why.empty()) {
    complain(why);
    status_ = exit_usage;
    return false;
  }
  open_inputs();
  if (feeds_.empty()) return false;
  loop_
      .emplace();  // a signal kills while inputs are opened, which may wait for ever, and no longer from here on
  start_runtime(wanted);
  bool const goes_on = !options_.checkpoint.empty() && std::filesystem::exists(options_.checkpoint);
  if (goes_on) restore();
  prepare_cameras(goes_on);
  return !feeds_.empty();
}

file_uses overlay_job::files() const {
  file_uses all;
  all.reads("--config", options_.config_file);
  for (std::uint32_t n = 0; n < options_.inputs.size(); ++n) {
    auto const output = output_of(options_, n + 1);
    all.reads("--input", options_.inputs[n]);
    if (options_.checkpoint.empty())
      all.writes("--output", output);
    else
      all.writes_from_any_tick("--output", output);
    if (!options_.stills.empty())
      all.writes("--stills", fmt::format("{}/camera-{}-still-%06d.png", options_.stills, n + 1));
    all.writes("a snapshot", fmt::format("{}/camera-{}-snapshot-%06d.png", snapshots(), n + 1));
  }
  all.writes("--checkpoint", options_.checkpoint);
  return all;
}

/// Where pictures go that are taken on request.
std::string overlay_job::snapshots() const {
  if (!options_.stills.empty()) return options_.stills;
  auto const folder = std::filesystem::path(options_.output).parent_path();
  return folder.empty() ? "." : folder.string();
}

config overlay_job::settings() const {
  config c;
  c.latency_sample_every = 1;  // only a few messages per frame, so each is timed
  if (!options_.config_file.empty()) c = load_config(options_.config_file, c);
  c = config_from_environment(c);
  if (!options_.device.empty()) set_field(c, "device", options_.device, "--device");
  if (options_.teams >= 0) c.teams = static_cast<std::uint32_t>(options_.teams);
  validate(c);
  return c;
}

void overlay_job::open_inputs() {
  for (std::uint32_t i = 0; i < options_.inputs.size(); ++i) {
    feed_options f;
    f.camera = i + 1;
    f.input = options_.inputs[i];
    f.output = output_of(options_, f.camera);
    f.stills = options_.stills;
    f.snapshots = snapshots();
    f.frames = options_.frames;
    f.preload = options_.preload;
    f.buffers = options_.buffers;
    auto const camera = fmt::format("camera {}", f.camera);
    try {
      feeds_.push_back(std::make_unique<camera_feed>(std::move(f)));
    } catch (video::video_open_error const& e) {
      report(camera, exit_no_input, e.what());
    } catch (video::video_error const& e) {
      report(camera, exit_bad_data, e.what());
    }
  }
}

void overlay_job::start_runtime(config c) {
  std::uint64_t needed = 0;
  for (auto const& f : feeds_) needed += f->buffer_bytes();
  c.buffer_bytes_cap = std::max(c.buffer_bytes_cap, 2 * needed);  // blocks are rounded up to size classes
  c.pinned_bytes = std::max(c.pinned_bytes, 2 * needed);
  try {
    runtime_.emplace(use<overlay::overlay_module>, c);
  } catch (config_error const&) {
    throw;
  } catch (std::runtime_error const& e) {
    throw device_error(e.what());
  }
  auto const teams = c.teams != 0 ? c.teams : std::max(1u, std::thread::hardware_concurrency());
  // A few tiles per team balance their work; a single tile has no seams.
  auto const tiles = options_.tiles > 0 ? options_.tiles : teams == 1 ? 1 : static_cast<int>(4 * teams);
  for (auto& f : feeds_) f->set_tiles(std::min(tiles, f->format().height / 16 + 1));
}

void overlay_job::prepare_cameras(bool restored) {
  std::erase_if(feeds_, [&](std::unique_ptr<camera_feed> const& f) {
    try {
      f->prepare(*runtime_, restored);
    } catch (video::video_error const& e) {
      report(f->name(), exit_bad_data, e.what());
      return true;
    }
    try {
      f->open_output();
    } catch (video::video_error const& e) {
      report(f->name(), exit_no_output, e.what());
      return true;
    }
    return false;
  });
}

void overlay_job::report(std::string const& camera, exit_code code, std::string const& reason) {
  if (progress_shown_) to_stderr("\n");
  progress_shown_ = false;
  complain(fmt::format("{}: {}", camera, reason));
  if (status_ == exit_done) status_ = code;
}

// -- running

void overlay_job::run() {
  auto const failures = runtime_->on_failure_report([this](std::string const& what) {
    loop_->post([this, what] { report("actors", exit_internal, what); });
  });
  listen();
  running_ = feeds_.size();
  claims_ = claims_of(*runtime_);
  line_.reserve(100 * (feeds_.size() + 1));  // so that the first line does not allocate while frames run
  feed_events events{[this](camera_feed& ended) { loop_->post([this, &ended] { on_end(ended); }); }};
  for (auto& f : feeds_) {
    if (f == feeds_.front() && !options_.checkpoint.empty()) {
      events.every = options_.checkpoint_every;
      events.frames_done = [this] { loop_->post([this] { checkpoint(); }); };
    }
    f->start(events);
    events.frames_done = nullptr;
  }
  loop_->run();
  checkpoint();
  print_summary();
}

void overlay_job::listen() {
  loop_->on_stop([this](int) {
    for (auto& f : feeds_) f->stop();
  });
  loop_->on_signal(SIGUSR1, [this] { take_snapshots(); });
  loop_->on_line([this](std::string_view line) {
    if (!line.empty()) on_key(line.front());
  });
  loop_->every(std::chrono::milliseconds(::isatty(STDERR_FILENO) != 0 ? 500 : 5000),
               [this] { show_progress(); });
}

void overlay_job::on_key(char key) {
  if (key == 's') take_snapshots();
  if (key == 'p') set_paused(!paused_);
}

void overlay_job::take_snapshots() {
  ++last_ticket_;
  for (auto& f : feeds_) f->take_snapshot(last_ticket_);
}

void overlay_job::set_paused(bool paused) {
  paused_ = paused;
  for (auto& f : feeds_) f->set_paused(paused);
}

void overlay_job::show_progress() {
  line_.clear();
  for (auto const& f : feeds_) {
    if (!line_.empty()) line_ += " | ";
    add_progress(line_, *f);
  }
  if (paused_) line_ += "  paused";
  bool const terminal = ::isatty(STDERR_FILENO) != 0;
  to_stderr(fmt::format("{}{}{}", terminal ? "\r\x1b[K" : "", line_, terminal ? "" : "\n"));
  progress_shown_ = terminal;
}

void overlay_job::restore() {
  try {
    rondo::restore(*runtime_, options_.checkpoint);
  } catch (std::runtime_error const& e) {
    throw config_error(e.what());
  }
}

/// Writes a checkpoint between frames of all cameras, so that no frame is lost or handled twice.
void overlay_job::checkpoint() {
  if (options_.checkpoint.empty() || paused_) return;  // a paused camera keeps its frames
  for (auto& f : feeds_) f->hold();
  try {
    static_cast<void>(
        rondo::checkpoint(*runtime_, options_.checkpoint));  // it has no graphs, so all actors are in it
  } catch (std::runtime_error const& e) {
    report("checkpoint", exit_no_output, e.what());
    options_.checkpoint.clear();
  }
  for (auto& f : feeds_) f->resume();
}

void overlay_job::on_end(camera_feed& feed) {
  feed.join();
  if (feed.outcome().code != exit_done) report(feed.name(), feed.outcome().code, feed.outcome().reason);
  if (--running_ == 0) loop_->end();
}

/// The counters once all messages are handled: a handler is counted a moment after its answer has arrived.
telemetry overlay_job::settled() {
  auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  auto now = runtime_->snapshot();
  while ((!now.conserved() || now.waiting != 0) && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    now = runtime_->snapshot();
  }
  return now;
}

void overlay_job::print_summary() {
  auto const now = settled();
  if (!now.conserved())
    report("messages", exit_internal, "some were lost or counted twice: " + conservation_text(now));
  if (progress_shown_) to_stderr("\r\x1b[K");
  auto text = summary_text(feeds_, *runtime_, now);
  for (auto const& f : feeds_)
    for (auto const& picture : f->pictures()) text += fmt::format("picture {}\n", clean_text(picture));
  if (options_.explain) text += fmt::format("\n{}", explanation(feeds_, *runtime_, claims_));
  if (std::fputs(text.c_str(), stdout) == EOF || std::fflush(stdout) != 0)
    report("table", exit_no_output,
           fmt::format("cannot be written to standard output: {}", std::generic_category().message(errno)));
}

}  // namespace rondo::tools
