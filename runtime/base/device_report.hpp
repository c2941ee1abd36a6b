// Reports of a device: its description, its traffic, and how it stopped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rondo {

/// What a device is, for people.
struct device_info {
  std::string name;         // "cpu", "emulated"
  std::string description;  // "2 teams of 1 lane, persistent"
  std::uint32_t pool_teams =
      0;  // its first teams, which take any actor; the others serve one pinned actor each
};

/// What has gone through a queue pair, as its host sees it: how many completions wait there only the device knows.
struct queue_counts {
  std::uint64_t submitted = 0, taken = 0;  // by the host; by the device
  std::uint64_t completed = 0;             // completions that the host has dealt with
  std::uint32_t submission_slots = 0, completion_slots = 0;
};

/// What a stopped device says.
struct stop_report {
  bool stopped = true;             // all teams ended in time
  std::vector<std::string> stuck;  // else: one line per team that did not
};

}  // namespace rondo
