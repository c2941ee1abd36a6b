// One run of `rondo overlay`: the cameras that could be opened, the runtime they share, and what stops them.
//
// Threads: `run` on the main thread, which serves signals, the keyboard and the progress line; each camera adds two
// threads (camera_feed.hpp).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/files/file_uses.hpp"
#include "runtime/observe/telemetry.hpp"
#include "tools/commands/command_end.hpp"
#include "tools/overlay/camera_feed.hpp"
#include "tools/overlay/overlay_explain.hpp"
#include "tools/overlay/overlay_options.hpp"

namespace rondo::tools {

class overlay_job {
 public:
  explicit overlay_job(overlay_options const& options) : options_(options) {}

  /// Opens everything. False if nothing is left to do: see `status`. Throws config_error, or device_error if the device
  /// is not available.
  bool open();
  /// Runs all cameras to their end, then prints the table.
  void run();
  /// The command's exit status so far.
  exit_code status() const noexcept { return status_; }

  struct device_error : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

 private:
  config settings() const;
  file_uses files() const;
  std::string snapshots() const;
  void open_inputs();
  void start_runtime(config settings);
  void prepare_cameras(bool restored);
  void restore();
  void checkpoint();
  void report(std::string const& camera, exit_code code, std::string const& reason);

  void listen();
  void on_key(char key);
  void take_snapshots();
  void set_paused(bool paused);
  void show_progress();
  void on_end(camera_feed& feed);
  telemetry settled();
  void print_summary();

  overlay_options options_;
  exit_code status_ = exit_done;
  std::optional<command_loop> loop_;  // from when the inputs are open

  std::optional<runtime> runtime_;
  std::vector<std::unique_ptr<camera_feed>> feeds_;  // destroyed before the runtime
  std::size_t running_ = 0;
  bool paused_ = false, progress_shown_ = false;
  std::uint32_t last_ticket_ = 0;
  std::string line_;     // the progress line
  block_claims claims_;  // before the first frame
};

}  // namespace rondo::tools
