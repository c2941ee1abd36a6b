// Writes each message that ends in a runtime, with how it ended, to a file; runtime/replay.hpp has actors handle them again.
//
//   rondo::recording tape(rt, "morning.recording");   // the actors that live come first, as they are
//   ...
//   tape.end();                                       // throws if the file does not hold everything
//
// What each message's sender does pays for it. While one is going on, `restore` and `upgrade` are refused.
#pragma once

#include <filesystem>

namespace rondo {

class runtime;

/// Threads: any. The runtime's stop ends it, too; must not outlive the runtime.
class recording {
 public:
  /// Begins. Blocks until no handler runs. Throws std::runtime_error when the file exists or cannot be created, when another
  /// recording is going on, or when no safepoint was reached.
  recording(runtime& rt, std::filesystem::path const& file);
  recording(recording const&) = delete;
  recording& operator=(recording const&) = delete;
  /// As `end`; what goes wrong is a failure report of the runtime.
  ~recording();

  /// What was written reaches the file, for programs that may be killed; otherwise 64 KiB are collected first. False when the
  /// file does not hold everything, and will not.
  bool flush();
  /// Throws std::runtime_error when it has ended before, or when the file does not hold everything; the latter is a failure
  /// report, too, when it happens.
  void end();

 private:
  runtime& runtime_;
  bool ended_ = false;
};

}  // namespace rondo
