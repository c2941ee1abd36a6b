// Writes traces as JSON in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open.
//
// Each device is a process there and each actor a thread; the program's calls stand in a process `host`. A bar is a handler
// at work, or a call that waits for its answer; an arrow leads from the send to the handler that it led to, so the gap
// below it is the time in the mailbox.
#pragma once

#include <string>
#include <vector>

#include "runtime/messaging/trace_log.hpp"

namespace rondo {

/// `devices`: their names, by the place that actors' ids tell.
std::string chrome_trace(std::vector<trace_hop> const& hops, std::vector<std::string> const& devices);

}  // namespace rondo
