// The state that keys change in `rondo top`: order, filter, selected actor, page. It does not draw, and does not depend
// on a terminal.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/top/top_model.hpp"

namespace rondo::tools {

/// Whether `text` contains `part`, whatever the case of ASCII letters.
bool contains(std::string_view text, std::string_view part);

enum class top_order : std::uint8_t { load, depth, p99, errors, name };
inline constexpr int top_orders = 5;

/// Keys that are not characters.
enum top_key : char32_t {
  key_up = 0x110000,  // beyond Unicode
  key_down,
  key_page_up,
  key_page_down,
  key_home,
  key_end,
  key_enter,
  key_escape,
  key_backspace,
};

class top_state {
 public:
  enum class request : std::uint8_t { none, quit, save };

  /// `page`: how many rows the page keys move by.
  request press(char32_t key, top_model const& model, int page);

  /// The actors to show, in order: those whose name or behaviour contains the filter.
  std::vector<top_actor const*> shown(top_model const& model) const;
  /// The index of the selected actor in `shown`; 0 if it is not there; -1 if `shown` is empty.
  int selected(std::vector<top_actor const*> const& shown) const;

  top_order order = top_order::load;
  std::string filter{};
  bool typing = false;   // the filter is being typed
  bool details = false;  // of the selected actor
  bool graphs = false;   // the stages of graphs are shown, not actors
  int graph_row = 0;     // selected among graph_rows; may be beyond the last one
  bool help = false;
  bool paused = false;

 private:
  using name = std::pair<std::uint32_t, std::uint32_t>;  // index and generation

  void type(char32_t key);
  void move(int by, top_model const& model);

  std::optional<name> chosen_;
};

}  // namespace rondo::tools
