// Compile-time telemetry switch, for a whole build (the CMake option RONDO_TELEMETRY).
//
// `with_telemetry` guards what only observers need: latencies, the peak depth, the message that a team handles, the
// watchdog, and the totals of an actor that keeps running. Message accounting (G1), and which actor a team runs (errors
// name it), are in every build. Types, layouts, and checkpoints are the same in both.
#pragma once

namespace rondo {

/// Whether this build has telemetry.
#if defined(RONDO_NO_TELEMETRY)
inline constexpr bool with_telemetry = false;
#else
inline constexpr bool with_telemetry = true;
#endif

}  // namespace rondo
