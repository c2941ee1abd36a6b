// The screen of `rondo top`: draws a top_model into a grid of characters, of any size from 80x24 up.
//
// Threads: one at a time; no state.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/top/text/text_grid.hpp"
#include "tools/top/text/top_format.hpp"
#include "tools/top/top_state.hpp"

namespace rondo::tools {

struct top_look {
  int width = 80, height = 24;
  bool ascii = false;       // no character beyond ASCII
  bool colours = true;      // else shades replace them
  bool interactive = true;  // else it is printed once, without keys and history
};

/// What the screen shows in addition to the reports.
struct top_news {
  std::string source{};   // the address that reports come from
  std::string trouble{};  // why no report arrives
  std::string message{};  // the result of the last key, such as where a report was saved
  /// Messages that wait for the selected actor, by priority, highest first; none: not known.
  std::optional<std::vector<std::pair<std::uint32_t, std::uint32_t>>> depths{};
};

text_grid draw_top(top_model const& model, top_state const& state, top_look const& look,
                   top_news const& news);
/// The height that shows every actor when printed once.
int height_for_all(top_model const& model);
/// The rows of the actor table on such a screen.
int rows_of_table(top_model const& model, top_look const& look);

}  // namespace rondo::tools
