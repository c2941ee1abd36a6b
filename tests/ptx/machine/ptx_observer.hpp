// What a program on the machine does, for those who count: every warp instruction, and every access with where it went.
#pragma once

#include <cstdint>

#include "tests/ptx/machine/ptx_module.hpp"

namespace ptx {

/// Where an access of a lane went. A store to `device` or `host` is posted: it arrives later.
enum class went : std::uint8_t { nowhere, local, shared, constant, l1, device, host };
enum class access_kind : std::uint8_t { load, store, atomic };

struct warp_access {
  access_kind kind;
  std::uint32_t bytes;             // of a lane: all elements
  std::uint64_t const* addresses;  // 32, by lane
  went const* where;               // 32, by lane: `nowhere` for lanes that take no part
};

/// Threads: each warp's calls come from its own thread.
class observer {
 public:
  virtual ~observer() = default;
  /// Before the instruction. `lanes`: those at it, also if its guard excludes them.
  virtual void executes(warp const&, instruction const&, std::uint32_t /*lanes*/) {}
  virtual void accesses(warp const&, instruction const&, warp_access const&) {}
  virtual void fences(warp const&, instruction const&, std::uint32_t /*lanes*/) {}
};

/// The time that a program sees.
class machine_clock {
 public:
  virtual ~machine_clock() = default;
  virtual std::uint64_t now_ns() noexcept;  // the system's monotonic clock
  virtual std::uint64_t cycles(
      warp const& of) const noexcept;  // as many as the warp has executed instructions
};

}  // namespace ptx
