// Traces as JSON in the Trace Event Format, for ui.perfetto.dev and chrome://tracing.
//
// Each device is shown as a process and each actor as a thread; the program's calls are in a process `host`. A bar is a
// running handler, or a call that waits for its answer. An arrow leads from a send to its handler, so the gap below it
// is the time in the mailbox. The details of a bar are those of otlp_trace.hpp, by the same names.
#pragma once

#include <string>
#include <vector>

#include "runtime/messaging/trace_log.hpp"

namespace rondo {

/// `devices`: their names, indexed by device_of an actor's id.
std::string chrome_trace(std::vector<trace_hop> const& hops, std::vector<std::string> const& devices);

}  // namespace rondo
