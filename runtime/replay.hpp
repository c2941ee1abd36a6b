// Has actors handle the messages of a recording once more, and compares the results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace rondo {

class runtime;

/// What a replay found.
struct replay_report {
  std::uint64_t entries = 0;               // of the recording
  std::uint64_t launched = 0;              // actors
  std::uint64_t messages = 0;              // that were handled again
  std::uint64_t not_handled = 0;           // that had ended otherwise, and were left out
  std::uint64_t differing = 0;             // results that are not the recorded ones
  std::vector<std::string> differences{};  // the first of them, for people
  bool complete = false;  // the recording was ended in order; else it is the beginning of one
};

/// The same messages, in each actor's order, one at a time, from the same states; what handlers send goes nowhere, for what came
/// of it is in the recording. Compared are how each handler ended and what it sent: to whom, which types, and payloads without
/// padding or floating-point numbers. The actors then continue from the states that they have reached. Handlers that read
/// clocks or buffers, batches, and handlers whose sends a full mailbox refused may differ. `progress` is called now and then.
/// Precondition: as of `restore`. Blocks. Throws std::runtime_error for a file that is foreign, damaged, or of another module.
replay_report replay(runtime& rt, std::filesystem::path const& file,
                     std::function<void(std::uint64_t entries)> const& progress = {});

}  // namespace rondo
