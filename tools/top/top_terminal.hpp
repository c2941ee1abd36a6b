// `rondo top` on a terminal, by ncurses; and its one-page forms. Where reports come from is a function.
//
// Threads: these block their caller. `source` and `inspect` are called on a thread of their own, one at a time, so that a
// service that does not answer stops no key.
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
  std::string name{};  // shown: an address
  /// The next report. What it throws is shown, and it is asked again after the interval.
  std::function<service::report()> next{};
  /// Messages that wait in the mailbox of the actor of this name, by priority, highest first. Empty: not to be had.
  std::function<std::vector<std::pair<std::uint32_t, std::uint32_t>>(std::string const& actor)> inspect{};
};

struct top_options {
  std::chrono::milliseconds interval{1000};
  bool ascii = false;      // also where the locale has no UTF-8
  bool no_colour = false;  // also with NO_COLOR, or on a terminal without colours
};

struct no_terminal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs until `q` or Ctrl-C. Throws no_terminal when standard input and output are none that ncurses can draw on, naming what to
/// do.
void run_top(top_source const& source, top_options const& options);

/// Prints one screen, or the report as JSON, to `out`; of the interval between two reports. Throws what the source throws.
void print_top(top_source const& source, top_options const& options, bool as_json, std::FILE* out);

}  // namespace rondo::tools
