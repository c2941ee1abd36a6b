// The recorder writes the reports of a runtime's devices during a recording (runtime/recording.hpp).
//
// Threads: any. Each actor's entries are in the order in which its messages completed, because its owner reports them.
#pragma once

#include <functional>
#include <mutex>

#include "kernels/link/device_event.hpp"
#include "runtime/state/recording_file.hpp"

namespace rondo {

class recorder {
 public:
  /// Throws as recording_writer. `on_failure` is called once, when the file can no longer be written.
  recorder(std::filesystem::path file, std::function<void(std::string const&)> on_failure)
      : writer_(std::move(file)), on_failure_(std::move(on_failure)) {}

  void begin(checkpoint_image const& image, std::vector<behaviour_info> const& module) {
    std::lock_guard lock(mutex_);
    writer_.begin(image, module);
  }

  void append(recorded const& what) {
    write([&] { writer_.append(what); });
  }
  /// Precondition: the event's kind is handled or not_handled.
  void append(device_event const& r) {
    recorded_message m{.actor = r.actor,
                       .body = r.body,
                       .team = r.team,
                       .handled = r.kind == event_kind::handled,
                       .reason = r.reason,
                       .digest = r.behaviour};
    m.body.header.flags &= static_cast<std::uint8_t>(~(flag_traced | flag_sampled));
    append(recorded(m));
  }

  /// Returns whether the file is complete so far.
  bool flush() {
    write([&] { writer_.flush(); });
    std::lock_guard lock(mutex_);
    return writer_.failure().empty();
  }
  /// Nothing is written any more. Throws std::runtime_error if the file is incomplete, each time.
  void close() {
    std::lock_guard lock(mutex_);
    writer_.close();
  }
  bool is_closed() {
    std::lock_guard lock(mutex_);
    return writer_.is_closed();
  }

 private:
  /// Reports the failure of the first write that fails.
  template <class Write>
  void write(Write writes) {
    std::string failure;
    {
      std::lock_guard lock(mutex_);
      bool const well = writer_.failure().empty();
      writes();
      if (well) failure = writer_.failure();
    }
    if (!failure.empty()) on_failure_(failure);
  }

  std::mutex mutex_;
  recording_writer writer_;  // guarded by mutex_
  std::function<void(std::string const&)> on_failure_;
};

}  // namespace rondo
