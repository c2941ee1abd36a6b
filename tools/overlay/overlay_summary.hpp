// The output of `rondo overlay`: one line while it runs, a table at the end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/observe/telemetry.hpp"
#include "tools/overlay/camera_feed.hpp"

namespace rondo::tools {

/// Appends "camera 1  312/795 frames  187.2 frames/s".
void add_progress(std::string& line, camera_feed const& feed);

/// Frames and rates by camera, then the actors' counters and latencies, then the sum that proves
/// conservation, then the device and why it was chosen.
std::string summary_text(std::vector<std::unique_ptr<camera_feed>> const& feeds, runtime const& rt,
                         telemetry const& now);

/// "723 accepted = 722 handled + 1 rejected + 0 dead + 0 waiting"; with "is not" instead of "=" if the sums differ.
std::string conservation_text(telemetry const& now);

}  // namespace rondo::tools
