#include "actors/streams/network/network_log.hpp"

#include <fmt/format.h>

#include "runtime/text/clean_text.hpp"
#include "runtime/text/to_stderr.hpp"

namespace rondo::streams {

void write_line(network_log const& log, std::string const& at, std::string const& line) {
  auto const text = clean_text(fmt::format("{}: {}", at, line));
  if (log) return log(text);
  to_stderr(fmt::format("rondo: {}\n", text));
}

}  // namespace rondo::streams
