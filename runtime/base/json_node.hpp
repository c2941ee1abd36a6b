// JSON text as a small tree that keeps what a general one throws away: each number as it was written, each field that
// was given twice.
//
// Boost.JSON's parser reads the text; its own tree rounds numbers to doubles and keeps the last of two equal fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// What may come: a payload of a message needs far less; people's files may have comments.
struct json_limits {
  std::size_t bytes = std::size_t{64} << 10;
  bool comments = false;  // from // to the line's end, and as in C
};
inline constexpr json_limits json_file{.bytes = std::size_t{4} << 20, .comments = true};
inline constexpr std::size_t max_json_depth = 16;
inline constexpr std::size_t max_json_entries = 16'384;  // of one list or object

/// Text that is not JSON, or beyond the limits. The text says where: `line 2, column 7: syntax error`.
struct json_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct json_node {
  enum class kind : std::uint8_t { null, flag, number, string, list, object };

  kind what = kind::null;
  bool flag = false;
  std::string text = {};                //  a number as it was written, or what a string says
  std::vector<json_node> entries = {};  //  of a list or an object
  std::vector<std::string> names = {};  //  of an object: one for each entry

  /// For errors: `a string`, `a list`; numbers as they are.
  std::string described() const;
  /// Of an object; null when it has none of that name.
  json_node const* find(std::string_view name) const noexcept;
};

/// Strict JSON in UTF-8. Throws json_error.
json_node parse_json_node(std::string_view text, json_limits const& limits = {});

/// The node as JSON on one line, numbers as they were written.
std::string json_text(json_node const& node);

}  // namespace rondo
