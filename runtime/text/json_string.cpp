#include "runtime/text/json_string.hpp"

#include <fmt/format.h>

#include <iterator>

#include "runtime/text/clean_text.hpp"

namespace rondo {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (char const c : valid_utf8(text)) {
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < ' ')
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out += '"';
}

}  // namespace rondo
