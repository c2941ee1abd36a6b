// Fields in texts, such as {n} in a file's name.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

/// Replaces each {field} by the value. {{field}} stands for {field} itself.
inline std::string with_field(std::string text, std::string_view field, std::string_view value) {
  auto const plain = std::string("{").append(field).append("}");
  for (std::size_t at = 0; (at = text.find(plain, at)) != std::string::npos;) {
    bool const is_doubled = at > 0 && text[at - 1] == '{' && text.compare(at + plain.size(), 1, "}") == 0;
    auto const begin = is_doubled ? at - 1 : at, length = is_doubled ? plain.size() + 2 : plain.size();
    auto const with = is_doubled ? std::string_view(plain) : value;
    text.replace(begin, length, with);
    at = begin + with.size();
  }
  return text;
}

}  // namespace rondo
