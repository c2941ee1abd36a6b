#include "tools/overlay/overlay_job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/read_until.hpp>
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
#include "runtime/text/to_stderr.hpp"
#include "tools/overlay/overlay_summary.hpp"

RONDO_EMULATED_MODULE(rondo::overlay::overlay_module)

namespace rondo::tools {

namespace asio = boost::asio;

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
    to_stderr(fmt::format("rondo overlay: {}\n", e.what()));
    return exit_bad_config;
  } catch (overlay_job::device_error const& e) {
    to_stderr(fmt::format("rondo overlay: {}\n", e.what()));
    return exit_unavailable;
  } catch (std::exception const& e) {
    to_stderr(fmt::format("rondo overlay: {}\n", e.what()));
    return exit_internal;
  }
  return job.status();
}

// -- opening

bool overlay_job::open() {
  auto const wanted = settings();  // first: a wrong configuration is reported before anything is opened
  open_inputs();
  if (feeds_.empty()) return false;
  start_runtime(wanted);
  bool const goes_on = !options_.checkpoint.empty() && std::filesystem::exists(options_.checkpoint);
  if (goes_on) restore();
  prepare_cameras(goes_on);
  return !feeds_.empty();
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
    if (!options_.stills.empty())
      f.snapshots = options_.stills;
    else if (auto const beside = std::filesystem::path(options_.output).parent_path(); !beside.empty())
      f.snapshots = beside.string();
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
  to_stderr(fmt::format("rondo overlay: {}: {}\n", camera, reason));
  if (status_ == exit_done) status_ = code;
}

// -- running

void overlay_job::run() {
  auto const failures = runtime_->on_failure_report([this](std::string const& what) {
    asio::post(io_, [this, what] { report("actors", exit_internal, what); });
  });
  listen();
  running_ = feeds_.size();
  claims_ = claims_of(*runtime_);
  line_.reserve(100 * (feeds_.size() + 1));  // so that the first line does not allocate while frames run
  feed_events events{[this](camera_feed& ended) { asio::post(io_, [this, &ended] { on_end(ended); }); }};
  for (auto& f : feeds_) {
    if (f == feeds_.front() && !options_.checkpoint.empty()) {
      events.every = options_.checkpoint_every;
      events.frames_done = [this] { asio::post(io_, [this] { checkpoint(); }); };
    }
    f->start(events);
    events.frames_done = nullptr;
  }
  tick();
  io_.run();
  checkpoint();
  print_summary();
}

void overlay_job::listen() {
  stop_signals_.add(SIGINT);
  stop_signals_.add(SIGTERM);
  stop_signals_.async_wait([this](error_code error, int) {
    if (error) return;
    stop_signals_.clear();  // a second Ctrl-C kills
    for (auto& f : feeds_) f->stop();
  });
  snapshot_signals_.add(SIGUSR1);
  auto const on_snapshot = [this](auto const& self) -> void {
    snapshot_signals_.async_wait([this, self](error_code error, int) {
      if (error || running_ == 0) return;
      take_snapshots();
      self(self);
    });
  };
  on_snapshot(on_snapshot);
  if (::isatty(STDIN_FILENO) == 0) return;
  keyboard_.assign(::dup(STDIN_FILENO));
  auto const on_line = [this](auto const& self) -> void {
    asio::async_read_until(keyboard_, typed_, '\n', [this, self](error_code error, std::size_t bytes) {
      if (error) return;
      on_key(*static_cast<char const*>(typed_.data().data()));
      typed_.consume(bytes);
      self(self);
    });
  };
  on_line(on_line);
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

void overlay_job::tick() {
  ticker_.expires_after(std::chrono::milliseconds(::isatty(STDERR_FILENO) != 0 ? 500 : 5000));
  ticker_.async_wait([this](error_code error) {
    // It may have fired before it was cancelled; nobody would cancel the next one.
    if (error || running_ == 0) return;
    show_progress();
    tick();
  });
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
    rondo::checkpoint(*runtime_, options_.checkpoint);
  } catch (std::runtime_error const& e) {
    report("checkpoint", exit_no_output, e.what());
    options_.checkpoint.clear();
  }
  for (auto& f : feeds_) f->resume();
}

void overlay_job::on_end(camera_feed& feed) {
  feed.join();
  if (feed.outcome().code != exit_done) report(feed.name(), feed.outcome().code, feed.outcome().reason);
  if (--running_ == 0) end();
}

/// Cancels all waits, so that io_.run returns.
void overlay_job::end() {
  ticker_.cancel();
  stop_signals_.cancel();
  snapshot_signals_.cancel();
  if (keyboard_.is_open()) keyboard_.close();
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
    for (auto const& picture : f->pictures()) text += fmt::format("picture {}\n", picture);
  if (options_.explain) text += fmt::format("\n{}", explanation(feeds_, *runtime_, claims_));
  if (std::fputs(text.c_str(), stdout) == EOF || std::fflush(stdout) != 0)
    report("table", exit_no_output,
           fmt::format("cannot be written to standard output: {}", std::generic_category().message(errno)));
}

}  // namespace rondo::tools
