// The log of a network stage's host side: a line for each connection and disconnection.
#pragma once

#include <functional>
#include <string>

namespace rondo::streams {

/// Gets one line, on the sockets' thread; empty: stderr.
using network_log = std::function<void(std::string const&)>;

/// Writes a line there. `at` names the writer, such as "network sink at unix:/run/frames".
void write_line(network_log const& log, std::string const& at, std::string const& line);

}  // namespace rondo::streams
