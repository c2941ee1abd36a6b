// What `rondo stream` and `rondo overlay` do with their graphs: runs them, and shows what they have done.
#pragma once

#include <string>
#include <vector>

#include "tools/stream/stream_run.hpp"

namespace rondo::tools {

/// Whether one of the devices that a configuration names is the host: there stages use files, windows and sockets.
bool names_host(std::string const& device);

/// Runs the graphs on one runtime, with the settings of the first file. `origin`: where errors of all graphs are to be
/// sought, such as a file. Writes errors of single graphs to standard error, and returns the status of the first one.
/// Throws command_error, and config_error.
exit_code run_graphs(stream_arguments const& a, std::vector<streams::stream_file> files,
                     std::string const& origin);

}  // namespace rondo::tools
