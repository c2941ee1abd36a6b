// Reports of a device: its description, its traffic, and how it stopped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rondo {

/// Where the handlers of a portable behaviour run (docs/fallback.md), and why.
struct portable_report {
  std::string behaviour;      // its name
  std::uint64_t on_gpu = 0;   // messages that the GPU has handled
  std::uint64_t on_host = 0;  // messages that teams have handled, where they could have been packed
  std::uint64_t packs = 0;    // that the GPU has been given
  double gpu_ns = 0;          // what a message has cost lately on the GPU; 0: unknown
  double host_ns = 0;         // likewise by a team
  bool is_packed = false;     // its mail goes to the GPU now
  std::string why;            // "8 ns a message on the GPU, 300 ns on 2 teams"
};

/// A description of a device, for human readers.
struct device_info {
  std::string name;         // "cpu", "emulated"
  std::string description;  // "2 teams of 1 lane, persistent"
  /// The first teams take any actor; each of the others serves one pinned actor.
  std::uint32_t pool_teams = 0;
  std::uint32_t pinned_teams = 0;  // so many pinned actors fit
  std::vector<portable_report>
      portable{};  // of a device cpu with a GPU beside it: the module's portable behaviours
};

/// The traffic of a queue pair as its host sees it. Only the device knows how many completions wait.
struct queue_counts {
  std::uint64_t submitted = 0;         // by the host
  std::uint64_t taken = 0;             // of these, by the device
  std::uint64_t completed = 0;         // completions that the host has processed
  std::uint32_t submission_slots = 0;  // of the ring to the device
  std::uint32_t completion_slots = 0;  // of the ring to the host
};

/// A team that did not leave its handler.
struct stuck_team {
  std::uint32_t team = 0;   // of its device
  std::uint32_t actor = 0;  // the index of its actor's cell
  std::uint32_t type = 0;   // of the message
};

/// The outcome of stopping a device, or a whole runtime.
struct stop_report {
  bool stopped = true;             // all teams stopped in time
  std::vector<std::string> stuck;  // otherwise, one line for each team or thread that did not
  std::vector<stuck_team> teams;   // the teams in a device's report; a runtime has named them in `stuck`
};

}  // namespace rondo
