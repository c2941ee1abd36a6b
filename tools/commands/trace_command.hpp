// `rondo trace`, and the traces that ask and tell write. Private to the library.
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace rondo::service {

class service_session;

/// A random trace id; not 0.
std::uint64_t choose_trace();
/// Fetches the hops of `trace` (0: of all traces) and writes them to `file` (-: standard output) in the format of
/// runtime/observe/chrome_trace.hpp. Throws command_error if there are none.
void write_trace(service_session& with, std::uint64_t trace, std::string const& file);
/// The same, once no new hop has arrived for a moment: an answer is sent before its handler has ended.
void write_trace_at_rest(service_session& with, std::uint64_t trace, std::string const& file);

void add_trace_command(CLI::App& app, int& exit_status);

}  // namespace rondo::service
