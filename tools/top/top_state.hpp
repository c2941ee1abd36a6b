// What the operator of `rondo top` has chosen with keys: order, filter, the actor at hand, pages. It draws nothing and knows
// no terminal.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/top/top_model.hpp"

namespace rondo::tools {

enum class top_order : std::uint8_t { load, depth, p99, errors, name };
inline constexpr int top_orders = 5;

/// Keys that are no characters.
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
  enum class wish : std::uint8_t { none, quit, save };

  /// `page`: rows of the table, for the keys that turn pages.
  wish press(char32_t key, top_model const& model, int page);

  /// The actors to show, in order: those whose name or behaviour contains the filter.
  std::vector<top_actor const*> shown(top_model const& model) const;
  /// The place of the chosen actor among them; the first one when it is not there. -1: there are none.
  int selected(std::vector<top_actor const*> const& shown) const;

  top_order order = top_order::load;
  std::string filter{};
  bool typing = false;   // the filter
  bool details = false;  // of the chosen actor
  bool help = false;
  bool paused = false;

 private:
  using name = std::pair<std::uint32_t, std::uint32_t>;  // index and generation

  void type(char32_t key);
  void move(int by, top_model const& model);

  std::optional<name> chosen_;
};

}  // namespace rondo::tools
