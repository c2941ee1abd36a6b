// Quoting of text as a JSON string.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

/// `text` as a JSON string with quotation marks. Precondition: `text` is ASCII or UTF-8.
std::string json_string(std::string_view text);

}  // namespace rondo
