// The work of `rondo ask --file`: sends a file of messages, several at once, and shows progress. Private to the
// library.
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
/// {"error": ...}. Each message has the time limit of a request. Stops at a line that is wrong or, when no service
/// answers any more, at the next one; sends nothing after it, and names it in the error. Throws command_error for that
/// and, after all are answered, if a message was refused.
void send_batch(batch_arguments const& a);

}  // namespace rondo::service
