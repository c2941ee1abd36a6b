// A small JSON tree that keeps each number as it was written, and each field that is given twice.
//
// Boost.JSON's parser reads the text. Boost's own tree would round numbers to doubles and drop the first of two equal
// fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// Limits of a JSON text. The defaults are for a message's payload, which needs far less. Only files may have comments.
struct json_limits {
  std::size_t bytes = std::size_t{64} << 10;
  bool comments = false;  // C and C++ comments are allowed
};
inline constexpr json_limits json_file{.bytes = std::size_t{4} << 20, .comments = true};
inline constexpr std::size_t max_json_depth = 16;
inline constexpr std::size_t max_json_entries = 16'384;  // of one list or object

/// Thrown for text that is not JSON or exceeds the limits. The message says where: `line 2, column 7: syntax error`.
struct json_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct json_node {
  enum class kind : std::uint8_t { null, flag, number, string, list, object };

  kind what = kind::null;
  bool flag = false;
  std::string text = {};                //  a number as it was written, or a string's contents
  std::vector<json_node> entries = {};  //  of a list or an object
  std::vector<std::string> names = {};  //  of an object: one per entry
  std::vector<std::size_t> lines = {};  //  of the names, from 1; 0: spelled with escapes

  /// Describes the node for errors: `a string`, `a list`; a number as it was written.
  std::string described() const;
  /// The entry of an object with this name, or null.
  json_node const* find(std::string_view name) const noexcept;
};

/// Strict JSON in UTF-8. Throws json_error.
json_node parse_json_node(std::string_view text, json_limits const& limits = {});

/// The node as JSON on one line; numbers stay as they were written.
std::string json_text(json_node const& node);

}  // namespace rondo
