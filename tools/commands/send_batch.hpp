// The work of `rondo ask --file`: sends a file of messages, several at once, and shows progress. Private to the library.
#pragma once

#include "tools/commands/command_line.hpp"

namespace rondo::service {

struct batch_arguments {
  connection_options const& where;
  std::string const& file;  // "-": standard input
  bool wants_reply;
  std::uint32_t open;  // messages in flight at once
};

/// Prints one line of JSON for each line of the file, in its order: the answer, null for a message that is told, or
/// {"error": ...}. Stops at a line that is wrong, sends nothing after it, and names it in the error. Throws command_error
/// if a line is wrong, and, after all are answered, if a message was refused.
void send_batch(batch_arguments const& a);

}  // namespace rondo::service
