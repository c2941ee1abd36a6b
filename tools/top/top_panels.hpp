// Parts of what `rondo top` shows, each drawn into a place of its own.
//
// Threads: any; no state.
#pragma once

#include <deque>

#include "tools/top/top_screen.hpp"

namespace rondo::tools {

/// A place on a grid, and with what to draw there.
struct top_area {
  text_grid& to;
  int row, column, width, height;
  glyphs const& g;
  bool colours;
};

/// Devices with teams, queue pairs and copies; pools; GPUs. One line per vector's element.
void draw_machine(top_area const& area, top_model const& model);
/// Lines that draw_machine can fill.
int machine_lines(top_model const& model);
/// Latency over time: an interval per column, the newest at the right, the longest durations at the top; the more messages
/// the brighter. The first row is a title.
void draw_heat(top_area const& area, std::string_view title, std::deque<latency_counts> const& history,
               std::vector<std::uint64_t> const& floors);
/// The actor at hand: all that is known of it.
void draw_details(top_area const& area, top_actor const& actor, top_model const& model, top_news const& news);
void draw_help(text_grid& to, glyphs const& g);

/// "● active", "▶ 2.5s" for a handler that takes its time, ...
std::string state_text(top_actor const& a, glyphs const& g);
style state_style(top_actor const& a);
/// The style of a mailbox's bar.
inline style fill_style(double fill) {
  return fill > 0.9 ? style::bad : fill > 0.5 ? style::warning : style::bar;
}

}  // namespace rondo::tools
