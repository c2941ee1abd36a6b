// The exit statuses of Rondo's programs, with the numbers of sysexits.h.
#pragma once

namespace rondo {

/// How a program ended. The words are in `exit_statuses`.
enum exit_code : int {
  exit_done = 0,
  exit_failed = 1,
  exit_usage = 64,
  exit_bad_data = 65,
  exit_no_input = 66,
  exit_unavailable = 69,
  exit_internal = 70,
  exit_no_output = 73,
  exit_bad_config = 78,
};

/// One row of the table that holds for all commands. The help, the manual page and docs/service.md show it.
struct exit_status_row {
  exit_code code;       // of the process
  char const* meaning;  // as a phrase without a full stop
};
/// All of them, in their order.
inline constexpr exit_status_row exit_statuses[] = {
    {exit_done, "done, also after Ctrl-C or SIGTERM"},
    {exit_failed, "the service or an actor refused, or a replay differs"},
    {exit_usage, "the command line is wrong"},
    {exit_bad_data,
     "an input is malformed or cut short: a payload, a file of requests, a recording, a video"},
    {exit_no_input, "an input does not exist or cannot be read"},
    {exit_unavailable,
     "no service answers in time, or a device, a camera, a display or a thread is not available"},
    {exit_internal, "actors or stages failed"},
    {exit_no_output, "an output cannot be written: a file, standard output"},
    {exit_bad_config, "a configuration, a graph or a checkpoint is refused"},
};

}  // namespace rondo
