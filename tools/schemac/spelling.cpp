#include "tools/schemac/spelling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace rondo::schemac {

std::string_view scalar_name(service::field_kind kind) {
  static constexpr std::string_view names[] = {
      "bool",          "std::int8_t",  "std::uint8_t",  "std::int16_t", "std::uint16_t", "std::int32_t",
      "std::uint32_t", "std::int64_t", "std::uint64_t", "float",        "double",        ""};
  return names[static_cast<std::size_t>(kind)];
}

std::string joined_name(std::string_view dotted) {
  std::string name;
  for (char const c : dotted) name += c == '.' ? std::string("::") : std::string(1, c);
  return name;
}

std::string global_name(std::string_view dotted) { return "::" + joined_name(dotted); }

std::vector<std::string> comment_lines(std::span<std::string const> docs) {
  std::vector<std::string> lines(docs.begin(), docs.end());
  for (auto& text : lines) {
    std::ranges::replace_if(
        text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    // A comment line that ends in a backslash would swallow the line after it.
    text.erase(text.find_last_not_of("\\ \t") + 1);
  }
  return lines;
}

std::string literal_of(std::uint64_t bits, service::field_kind underlying) {
  if (underlying == service::field_kind::uint64) return fmt::format("{}u", bits);
  auto const value = static_cast<std::int64_t>(bits);
  // C++ has no negative literals: the lowest value must be an expression.
  if (value == std::numeric_limits<std::int64_t>::min()) return fmt::format("{} - 1", value + 1);
  return fmt::format("{}", value);
}

}  // namespace rondo::schemac
