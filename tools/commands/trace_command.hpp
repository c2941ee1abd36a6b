// Traces of commands. Private to the library.
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace rondo::service {

class service_session;

/// A number that nobody else chooses.
std::uint64_t choose_trace();
/// Asks the service for the hops of `trace`, of all for 0, and writes them to `file`, - for standard output, as
/// runtime/observe/chrome_trace.hpp has them. Throws command_error when there are none.
void write_trace(service_session& with, std::uint64_t trace, std::string const& file);
/// The same once no hop has come for a moment: an answer is on its way before its handler has ended.
void write_trace_at_rest(service_session& with, std::uint64_t trace, std::string const& file);

void add_trace_command(CLI::App& app, int& exit_status);

}  // namespace rondo::service
