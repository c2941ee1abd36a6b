// Compile-time telemetry switch, for a whole build (the CMake option RONDO_TELEMETRY).
//
// What only an onlooker misses asks `with_telemetry`: latencies, the peak depth, the message that a team handles, the
// watchdog, and totals of an actor that goes on. What is accounted for (G1), and which actor a team runs, which errors
// name, is there in every build. Types and layouts are the same in both; so are checkpoints.
#pragma once

namespace rondo {

#if defined(RONDO_NO_TELEMETRY)
inline constexpr bool with_telemetry = false;
#else
inline constexpr bool with_telemetry = true;
#endif

}  // namespace rondo
