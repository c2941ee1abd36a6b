// `rondo top` on a terminal, with ncurses, and its forms that print once. The caller passes a function that returns
// reports.
//
// Threads: these functions block their caller. run_top calls `next` and `inspect` on a separate thread, one at a time,
// so that keys work even if the service does not answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/service/monitor/report.hpp"

namespace rondo::tools {

struct top_source {
  std::string name{};  // an address, which is shown
  /// Returns the next report. If it throws, the error is shown, and it is called again after the interval.
  std::function<service::report()> next{};
  /// Returns the number of messages waiting for this actor, by priority, highest first. An empty function: not
  /// available.
  std::function<std::vector<std::pair<std::uint32_t, std::uint32_t>>(std::string const& actor)> inspect{};
};

/// The part of a larger window that is drawn on: nobody reads more, and a window says any size.
inline constexpr int most_top_columns = 500, most_top_rows = 500;

struct top_options {
  std::chrono::milliseconds interval{1000};
  bool ascii = false;      // also if the locale is not UTF-8
  bool no_colour = false;  // also with NO_COLOR, or on a terminal without colours
};

struct no_terminal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs until `q` or Ctrl-C, or until the terminal is gone. Throws no_terminal if standard input and output are not a
/// terminal that ncurses can draw on; its text says what to do.
void run_top(top_source const& source, top_options const& options);

/// Prints one screen, or JSON, to `out`, from two reports an interval apart. Throws what the source throws.
void print_top(top_source const& source, top_options const& options, bool as_json, std::FILE* out);

}  // namespace rondo::tools
