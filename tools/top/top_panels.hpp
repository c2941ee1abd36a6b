// The panels of `rondo top`, each drawn into its own area.
//
// Threads: any; no state.
#pragma once

#include <deque>

#include "tools/top/top_screen.hpp"

namespace rondo::tools {

/// An area of a grid, and what to draw with.
struct top_area {
  text_grid& to;
  int row, column, width, height;
  glyphs const& g;
  bool colours;

  /// Another area of the same grid.
  top_area at(int new_row, int new_column, int new_width, int new_height) const {
    return {to, new_row, new_column, new_width, new_height, g, colours};
  }
};

/// Devices with their teams, queue pairs and copies; pools; GPUs. One line each.
void draw_machine(top_area const& area, top_model const& model);
/// How many lines draw_machine can fill.
int machine_lines(top_model const& model);
/// Latency over time: one column per interval, the newest at the right; the longest latencies at the top; the more
/// messages, the brighter. The first row is the title.
void draw_heat(top_area const& area, std::string_view title, std::deque<latency_counts> const& history,
               std::vector<std::uint64_t> const& floors);
/// All that is known about one actor.
void draw_details(top_area const& area, top_actor const& actor, top_model const& model, top_news const& news);
void draw_help(text_grid& to, glyphs const& g);

/// "● active", or "◐ 2.5s add" for a handler that has run for a second or more, ...
std::string state_text(top_actor const& a, glyphs const& g);
style state_style(top_actor const& a);
/// The style of a mailbox's bar.
inline style fill_style(double fill) {
  return fill > 0.9 ? style::bad : fill > 0.5 ? style::warning : style::bar;
}

}  // namespace rondo::tools
