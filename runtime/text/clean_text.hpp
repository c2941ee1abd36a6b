// Makes names from outside safe for terminals, JSON and metrics.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

/// `text` with each byte that is not part of a valid UTF-8 character replaced by '?'. For formats that must be UTF-8
/// and escape control characters themselves.
std::string valid_utf8(std::string_view text);

/// The same, with each control character replaced by '?', too, and each of the two that no XML may have. For terminals,
/// logs and pictures.
std::string clean_text(std::string_view text);

/// Why `text` is no name that everything can show as it is, as the end of a sentence; empty: it is one. A name has
/// nothing that clean_text replaces.
std::string why_no_name(std::string_view text);

/// Takes the first character off `text`, which is not empty. U'?' for each control character and each byte that
/// clean_text replaces.
char32_t take_character(std::string_view& text);

}  // namespace rondo
