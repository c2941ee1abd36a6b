#include "runtime/streams/network/network_log.hpp"

#include <fmt/format.h>

namespace rondo::streams {

void write_line(network_log const& log, std::string const& at, std::string const& line) {
  auto const text = fmt::format("{}: {}", at, line);
  if (log) return log(text);
  fmt::print(stderr, "rondo: {}\n", text);
}

}  // namespace rondo::streams
