// Writes a report in Prometheus' text format, version 0.0.4.
//
// Base units (seconds, bytes), counters end in _total. Every name begins with rondo_. What each means stands in its
// HELP line.
// Threads: any; no state.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/service/monitor/report.hpp"

namespace rondo::service {

inline constexpr char const* metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";  // of HTTP

/// How a report is written.
struct metrics_options {
  /// So many actors have series of their own: the first ones with a name, by index, so that an actor keeps what it has.
  /// All others are summed into actor="other", whose counters therefore fall when one of those ends: rates of
  /// everything come from rondo_messages_*_total.
  std::size_t actors = 100;
};

/// The text of a report.
std::string to_metrics(report const& r, metrics_options const& options = {});

}  // namespace rondo::service
