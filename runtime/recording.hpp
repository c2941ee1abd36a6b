// A recording: a file of each message that actors complete, with its outcome. runtime/replay.hpp lets actors handle
// them again.
//
//   rondo::recording tape(rt, "morning.recording");   // writes the living actors first
//   ...
//   tape.end();                                       // throws if the file is incomplete
//
// Recording slows down the path of each message. During a recording, `restore` and `upgrade` are refused.
#pragma once

#include <filesystem>
#include <memory>

namespace rondo {

class recorder;
class runtime;

/// Threads: any. Stopping the runtime also closes the file. Must not outlive the runtime.
class recording {
 public:
  /// Starts recording. Blocks until a safepoint. Throws std::runtime_error if the file exists or cannot be created, if
  /// another recording is in progress, or if no safepoint was reached.
  recording(runtime& rt, std::filesystem::path const& file);
  recording(recording const&) = delete;
  recording& operator=(recording const&) = delete;
  /// As `end`, but errors become failure reports of the runtime. If there is no safepoint, because a handler does not
  /// return, the recording continues until the runtime stops or another recording starts. A forked child's copy does
  /// nothing.
  ~recording();

  /// Writes the collected entries to the file, for programs that may be killed; otherwise up to 64 KiB are collected
  /// first. False if the file is incomplete and will stay so. Throws std::runtime_error after `end`.
  bool flush();
  /// Ends the recording. Throws std::runtime_error if it has already ended, if no safepoint was reached (try again), or
  /// if the file is incomplete. The latter was also a failure report when it happened.
  void end();

 private:
  runtime& runtime_;
  std::shared_ptr<recorder> recorder_;  // null once it has ended
};

}  // namespace rondo
