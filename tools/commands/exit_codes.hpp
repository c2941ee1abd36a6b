// The exit codes of Rondo's programs, with the numbers of sysexits.h.
#pragma once

namespace rondo {

/// How a program ended.
enum exit_code : int {
  exit_done = 0,          // without an error
  exit_failed = 1,        // the service or the actor refused; the reason is on standard error
  exit_usage = 64,        // an option that is unknown, missing or out of range
  exit_bad_data = 65,     // an input or a payload is malformed
  exit_no_input = 66,     // an input that does not exist or cannot be opened
  exit_unavailable = 69,  // no service answers, or the device is not available
  exit_internal = 70,     // the actors failed
  exit_no_output = 73,    // an output that cannot be created or written
  exit_bad_config = 78,   // the configuration or a checkpoint is refused
};

}  // namespace rondo
