// Text as a JSON string.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

/// `text`, which is ASCII or UTF-8, as a JSON string, with its quotation marks.
std::string json_string(std::string_view text);

}  // namespace rondo
