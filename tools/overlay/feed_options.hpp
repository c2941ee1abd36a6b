// The options of one camera's feed, its outcome and its progress.
#pragma once

#include <cstdint>
#include <string>

#include "tools/commands/exit_codes.hpp"

namespace rondo::tools {

struct feed_options {
  std::uint32_t camera = 1;  // counts from 1
  std::string input;
  std::string output;           // an MP4 file; empty: none
  std::string stills;           // a directory for five pictures of the clip; empty: none
  std::string snapshots = ".";  // a directory for pictures taken on request
  std::int64_t frames = 0;      // only this many frames of the clip; 0: all
  bool preload = false;         // decode everything before the first frame is handled
  int buffers = 6;              // frames under way at once
  int tiles = 8;
};

/// How a feed ended.
struct feed_outcome {
  exit_code code = exit_done;
  std::string reason;  // empty when all went well
};

struct feed_progress {
  std::int64_t done = 0;       // frames drawn and, with an output, encoded
  std::int64_t expected = 0;   // 0: not known
  std::int64_t earlier = 0;    // done by runs before this one, up to the checkpoint
  std::int64_t sent = 0;       // frames given to the camera's actor
  std::int64_t looked_at = 0;  // frames that the host read when they were done
  double seconds = 0;          // from the first frame's start to now, or to the end
  std::uint32_t tracks = 0, ids = 0, overflow = 0;
};

}  // namespace rondo::tools
