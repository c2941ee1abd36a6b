#include "runtime/text/clean_text.hpp"

#include <boost/locale/utf.hpp>
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
  // Of ASCII, and of the C1 range (U+0080 to U+009F), which terminals also obey.
  bool const is_control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  return is_control ? U'?' : c;
}

std::string clean_text(std::string_view text) { return replaced(text, take_character); }
std::string valid_utf8(std::string_view text) { return replaced(text, take_valid); }

}  // namespace rondo
