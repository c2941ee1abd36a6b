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
/// See runtime/observe/chrome_trace.hpp and otlp_trace.hpp.
enum class trace_format { chrome, otlp };
/// otlp if the name ends in .otlp.json.
trace_format format_for(std::string const& file);
/// Fetches the hops of `trace` (0: of all traces) and writes them to `file` (-: standard output). Throws command_error
/// if there are none.
void write_trace(service_session& with, std::uint64_t trace, std::string const& file, trace_format format);
/// The same in the format for `file`, once no new hop has arrived for a moment: an answer is sent before its handler
/// has ended.
void write_trace_at_rest(service_session& with, std::uint64_t trace, std::string const& file);

void add_trace_command(CLI::App& app, int& exit_status);

}  // namespace rondo::service
