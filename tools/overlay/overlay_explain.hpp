// What `rondo overlay --explain` adds to the table: which copies a frame needs where its steps run, how many were made, and
// what the pools of buffers held.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/memory/unified_buffer.hpp"
#include "tools/overlay/camera_feed.hpp"

namespace rondo::tools {

struct copy_account {
  std::string device;          // where the actors run
  bool one_memory = true;      // the device's handlers lease the host's memory
  std::int64_t sent = 0;       // frames given to the actors
  std::int64_t looked_at = 0;  // of these, frames that the host looked at when they were done
  transfer_counts measured{};
};

/// A line for each step: where it runs, the least copies per frame that these places require, those measured, and why.
/// Then what was copied beyond that.
std::string explain_copies(copy_account const& a);

struct pool_account {
  std::string memory;               // whose it is: "host"
  std::uint64_t claims_before = 0;  // misses up to the first frame
  buffer_pool_statistics at_end{};  // with the cameras' buffers still in use
};

/// One line: what is in use, the part of it that nobody asked for, and the blocks claimed before and during the frames.
std::string explain_pool(pool_account const& a);

/// Misses so far of the pools of the host, of its pinned memory and of the device.
struct block_claims {
  std::uint64_t host = 0, pinned = 0, device = 0;
};
block_claims claims_of(runtime& rt);

/// All of it. `before`: the claims up to the first frame.
std::string explanation(std::vector<std::unique_ptr<camera_feed>> const& feeds, runtime& rt,
                        block_claims const& before);

}  // namespace rondo::tools
