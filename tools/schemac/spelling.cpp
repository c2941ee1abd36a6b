#include "tools/schemac/spelling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace rondo::schemac {

scalar_spelling scalar_of(reflection::BaseType type) {
  switch (type) {
    case reflection::Bool:
      return {"bool", 1};
    case reflection::Byte:
      return {"std::int8_t", 1};
    case reflection::UByte:
      return {"std::uint8_t", 1};
    case reflection::Short:
      return {"std::int16_t", 2};
    case reflection::UShort:
      return {"std::uint16_t", 2};
    case reflection::Int:
      return {"std::int32_t", 4};
    case reflection::UInt:
      return {"std::uint32_t", 4};
    case reflection::Long:
      return {"std::int64_t", 8};
    case reflection::ULong:
      return {"std::uint64_t", 8};
    case reflection::Float:
      return {"float", 4};
    case reflection::Double:
      return {"double", 8};
    default:
      return {};
  }
}

std::string global_name(std::string_view dotted) {
  std::string name = "::";
  for (char const c : dotted) name += c == '.' ? std::string("::") : std::string(1, c);
  return name;
}

std::vector<std::string> docs_of(flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> const* lines) {
  std::vector<std::string> docs;
  if (lines == nullptr) return docs;
  for (auto const* line : *lines) {
    std::string text = line->str();
    std::ranges::replace_if(
        text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    // A comment line that ends in a backslash would swallow the line after it.
    text.erase(text.find_last_not_of("\\ \t") + 1);
    docs.push_back(std::move(text));
  }
  return docs;
}

std::string literal_of(std::int64_t value, reflection::BaseType underlying) {
  if (underlying == reflection::ULong) return fmt::format("{}u", static_cast<std::uint64_t>(value));
  // C++ has no negative literals: the lowest value must be an expression.
  if (value == std::numeric_limits<std::int64_t>::min()) return fmt::format("{} - 1", value + 1);
  return fmt::format("{}", value);
}

}  // namespace rondo::schemac
