// Replay: actors handle the messages of a recording again, and the results are compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace rondo {

class runtime;

/// The results of a replay.
struct replay_report {
  std::uint64_t entries = 0;               // entries of the recording
  std::uint64_t launched = 0;              // launched actors
  std::uint64_t messages = 0;              // messages handled again
  std::uint64_t not_handled = 0;           // messages skipped because their handler had not run
  std::uint64_t differing = 0;             // results that differ from the recorded ones
  std::vector<std::string> differences{};  // the first of them, for human readers
  bool complete = false;                   // the recording was closed properly; otherwise its end is missing
};

/// Posts the same messages one at a time, in each actor's order, from the same states. Messages sent by handlers are
/// dropped, because the recording contains their consequences. Compares each handler's outcome and what it sent:
/// targets, types, and payloads without padding or floating-point numbers. The actors then continue from the states
/// that they have reached. Results may differ for handlers that read clocks or buffers, for batches, and for handlers
/// whose sends a full mailbox refused. `progress` is called from time to time. Precondition: as for `restore`. Blocks.
/// Throws std::runtime_error for a file that is foreign, damaged, or from another module.
replay_report replay(runtime& rt, std::filesystem::path const& file,
                     std::function<void(std::uint64_t entries)> const& progress = {});

}  // namespace rondo
