// The text of `rondo overlay --explain`: which copies a frame requires, how many were made, and what the buffer pools
// held.
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
  bool one_memory = true;      // the device's handlers use the host's memory
  std::int64_t sent = 0;       // frames given to the actors
  std::int64_t looked_at = 0;  // of these, frames that the host read when they were done
  transfer_counts measured{};
};

/// A line for each step: where it runs, the least copies per frame that this requires, the measured copies, and why.
/// Then the copies beyond the least.
std::string explain_copies(copy_account const& a);

struct pool_account {
  std::string memory;               // whose memory it is: "host"
  std::uint64_t claims_before = 0;  // misses up to the first frame
  buffer_pool_statistics at_end{};  // with the cameras' buffers still in use
};

/// One line: the bytes in use, how much of that is waste, and the blocks claimed before and while frames ran.
std::string explain_pool(pool_account const& a);

/// The misses so far of the pools of the host, of its pinned memory, and of the device.
struct block_claims {
  std::uint64_t host = 0, pinned = 0, device = 0;
};
block_claims claims_of(runtime& rt);

/// The whole text. `before`: the claims before the first frame.
std::string explanation(std::vector<std::unique_ptr<camera_feed>> const& feeds, runtime& rt,
                        block_claims const& before);

}  // namespace rondo::tools
