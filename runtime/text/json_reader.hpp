// A reader for the fields of a hand-written JSON object, with precise errors.
//
// Errors are config_error: `origin: path: what was found; what is accepted`.
// Threads: one at a time. Lifetime: must not outlive the tree that it reads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/config_error.hpp"
#include "runtime/text/json_node.hpp"

namespace rondo {

class json_reader {
 public:
  /// `path` is the position of `value` in the document: "" for the root. Throws if it is not an object or has a field
  /// twice.
  json_reader(json_node const& value, std::string origin, std::string path = {});

  /// Each reads the field with this name. If there is none, `to` stays unchanged.
  void text(char const* name, std::string& to);
  void flag(char const* name, bool& to);
  template <class Number>
  void number(char const* name, std::uint64_t min, std::uint64_t max, Number& to) {
    if (auto const* const v = find(name)) to = static_cast<Number>(number_of(*v, name, min, max));
  }
  /// A number, or a ratio as text: "60000/1001".
  void real(char const* name, double min, double max, double& to);
  using use_value = std::function<void(json_node const&, std::string const& path)>;
  /// Calls `use` with each element of a list.
  void list(char const* name, use_value const& use);
  void object(char const* name, use_value const& use);
  /// Calls `use` with a value of any kind.
  void value(char const* name, use_value const& use);

  /// Throws if the object has a field that was never read.
  void done() const;
  [[noreturn]] void refuse(std::string_view field, std::string_view why) const;

 private:
  json_node const* find(char const* name);
  json_node const* find(char const* name, json_node::kind kind, char const* wanted);
  std::uint64_t number_of(json_node const& v, char const* name, std::uint64_t min, std::uint64_t max) const;
  std::string path_of(std::string_view field) const;

  json_node const& object_;
  std::string origin_, path_;
  std::vector<std::string_view> known_;
};

/// Parses a file's JSON, which may have comments. Throws config_error with the line.
json_node parse_json_file(std::string_view text, std::string const& origin);

}  // namespace rondo
