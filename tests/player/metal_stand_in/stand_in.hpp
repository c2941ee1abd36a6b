// A stand-in of Metal on Linux, for tests of runtime/player/metal_player.mm: it checks the order of calls, bounds and
// lifetimes, and executes the kernels' text, translated to C++ for OpenCL, on the processor (pocl).
//
// It is no proof of Apple's compiler, driver, scheduling and memory order.
#pragma once

#include <string>
#include <vector>

namespace rondo::stand_in {

/// What was done wrong since the last call, one line each.
std::vector<std::string> misuses();
/// Objects that are not freed.
int live_objects();
/// Command buffers that have completed since `work`.
int completed();

/// Resets all that follows: a device that works.
void work();
/// There is no GPU.
void have_no_device();
/// The driver has no memory left.
void have_no_memory();
/// No command buffer completes, until `let_go`.
void hang();
void let_go();
/// The command buffer after `good` others ends with an error of this text.
void fail_after(int good, std::string const& text);

}  // namespace rondo::stand_in
