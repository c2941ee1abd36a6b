#include "runtime/text/clean_text.hpp"

#include <fmt/format.h>

#include <boost/locale/utf.hpp>
#include <cstdint>
#include <iterator>

namespace rondo {

namespace utf = boost::locale::utf;
using utf8 = utf::utf_traits<char>;

namespace {

/// The first character of `text`, which is taken off; U'?' for a byte that is not part of one.
char32_t take_valid(std::string_view& text) {
  auto const* at = text.data();
  utf::code_point const c = utf8::decode(at, text.data() + text.size());
  bool const valid = c != utf::illegal && c != utf::incomplete;
  text.remove_prefix(valid ? static_cast<std::size_t>(at - text.data()) : 1);
  return valid ? char32_t{c} : U'?';
}

bool is_shown(char32_t c) {
  // Of ASCII, and of the C1 range (U+0080 to U+009F), which terminals also obey.
  bool const is_control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  return !is_control && c != 0xfffe && c != 0xffff;
}

template <class Take>
std::string replaced(std::string_view text, Take take) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) utf8::encode(take(text), std::back_inserter(out));
  return out;
}

}  // namespace

char32_t take_character(std::string_view& text) {
  auto const c = take_valid(text);
  return is_shown(c) ? c : U'?';
}

std::string why_no_name(std::string_view text) {
  constexpr auto rule = "a name is UTF-8 text without control characters";
  while (!text.empty()) {
    auto const byte = static_cast<unsigned char>(text.front());
    auto const c = take_valid(text);
    if (c == U'?' && byte != '?')
      return fmt::format("has the byte 0x{:02x}, which is no UTF-8; {}", byte, rule);
    if (!is_shown(c))
      return fmt::format("has the character U+{:04X}; {}", static_cast<std::uint32_t>(c), rule);
  }
  return {};
}

std::string clean_text(std::string_view text) { return replaced(text, take_character); }
std::string valid_utf8(std::string_view text) { return replaced(text, take_valid); }

}  // namespace rondo
