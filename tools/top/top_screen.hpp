// Lays out what `rondo top` shows: a top_model as a grid of characters, of any size from 80x24 on.
//
// Threads: one at a time; no state of its own.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/top/text_grid.hpp"
#include "tools/top/top_format.hpp"
#include "tools/top/top_state.hpp"

namespace rondo::tools {

struct top_look {
  int width = 80, height = 24;
  bool ascii = false;       // no character beyond ASCII
  bool colours = true;      // else shades stand for them
  bool interactive = true;  // else it is printed once: no keys, no past
};

/// What is known beside the reports.
struct top_news {
  std::string source{};   // where they come from: an address
  std::string trouble{};  // why none comes at present
  std::string message{};  // of the last key: where a report was saved
  /// Messages that wait in the chosen actor's mailbox, by priority, highest first; none: not known.
  std::optional<std::vector<std::pair<std::uint32_t, std::uint32_t>>> depths{};
};

text_grid draw_top(top_model const& model, top_state const& state, top_look const& look,
                   top_news const& news);
/// Rows that show every actor when it is printed once.
int height_for_all(top_model const& model);
/// Rows of the table of actors on such a screen.
int rows_of_table(top_model const& model, top_look const& look);

}  // namespace rondo::tools
