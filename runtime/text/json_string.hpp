// Quoting of text as a JSON string.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

/// `text` as a JSON string with quotation marks. JSON is UTF-8: each byte that is not part of a character becomes '?'.
std::string json_string(std::string_view text);

}  // namespace rondo
