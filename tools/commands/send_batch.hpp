// Sends a file of messages, several at once, with progress: the work of `rondo ask --file`. Private to the library.
#pragma once

#include "tools/commands/command_line.hpp"

namespace rondo::service {

struct batch_arguments {
  connection_options const& where;
  std::string const& file;  // "-": standard input
  bool wants_reply;
  std::uint32_t open;  // messages on their way at once
};

/// One line of JSON to standard output for each line of the file, in its order: the answer, null for a message that is told,
/// or {"error": ...}. A line that is wrong ends the whole before anything later is sent, and is named. Throws command_error
/// also when a message was refused, after all have had their turn.
void send_batch(batch_arguments const& a);

}  // namespace rondo::service
