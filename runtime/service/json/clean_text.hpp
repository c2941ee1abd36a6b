// Makes names from outside safe for terminals, JSON and metrics.
#pragma once

#include <string>
#include <string_view>

namespace rondo::service {

/// `text` with each control character, and each byte that is not part of a valid UTF-8 character, replaced by '?'.
std::string clean_text(std::string_view text);

/// Takes the first character off `text`, which is not empty. U'?' for each control character and each byte that clean_text
/// replaces.
char32_t take_character(std::string_view& text);

}  // namespace rondo::service
