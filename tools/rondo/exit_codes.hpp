// What the rondo command's exit status says; the numbers are those of sysexits.h.
#pragma once

namespace rondo::tools {

enum exit_code : int {
  exit_done = 0,
  exit_usage = 64,        // an option that is unknown, missing or out of range
  exit_bad_data = 65,     // an input that is no video, or breaks off
  exit_no_input = 66,     // an input that is not there or cannot be opened
  exit_unavailable = 69,  // the device that was asked for
  exit_internal = 70,     // the actors failed
  exit_no_output = 73,    // an output that cannot be created or written
  exit_bad_config = 78,   // the configuration, or a checkpoint
};

/// For --help.
inline constexpr char const* exit_codes_text =
    "Exit status: 0 done (also after Ctrl-C), 64 usage, 65 bad data in an input, 66 an input cannot be "
    "opened,\n"
    "69 the device is not available, 70 the actors failed, 73 an output cannot be written, 78 bad "
    "configuration.\n"
    "With several cameras: that of the first one that failed; the others run to their end.";

}  // namespace rondo::tools
