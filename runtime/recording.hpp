// A recording: a file of each message that actors complete, with its outcome. runtime/replay.hpp lets actors handle them again.
//
//   rondo::recording tape(rt, "morning.recording");   // writes the living actors first
//   ...
//   tape.end();                                       // throws if the file is incomplete
//
// Recording slows down the path of each message. During a recording, `restore` and `upgrade` are refused.
#pragma once

#include <filesystem>

namespace rondo {

class runtime;

/// Threads: any. Stopping the runtime also ends the recording. Must not outlive the runtime.
class recording {
 public:
  /// Starts recording. Blocks until a safepoint. Throws std::runtime_error if the file exists or cannot be created, if
  /// another recording is in progress, or if no safepoint was reached.
  recording(runtime& rt, std::filesystem::path const& file);
  recording(recording const&) = delete;
  recording& operator=(recording const&) = delete;
  /// As `end`, but errors become failure reports of the runtime.
  ~recording();

  /// Writes the collected entries to the file, for programs that may be killed; otherwise up to 64 KiB are collected first.
  /// False if the file is incomplete and will stay so.
  bool flush();
  /// Ends the recording. Throws std::runtime_error if it has already ended or if the file is incomplete. The latter was
  /// also a failure report when it happened.
  void end();

 private:
  runtime& runtime_;
  bool ended_ = false;
};

}  // namespace rondo
