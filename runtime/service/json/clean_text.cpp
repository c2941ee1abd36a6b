#include "runtime/service/json/clean_text.hpp"

#include <boost/locale/utf.hpp>
#include <iterator>

namespace rondo::service {

namespace utf = boost::locale::utf;
using utf8 = utf::utf_traits<char>;

char32_t take_character(std::string_view& text) {
  auto const* at = text.data();
  utf::code_point const c = utf8::decode(at, text.data() + text.size());
  bool const valid = c != utf::illegal && c != utf::incomplete;
  text.remove_prefix(valid ? static_cast<std::size_t>(at - text.data()) : 1);
  // Of ASCII, and of the C1 range (U+0080 to U+009F), which terminals also obey.
  bool const is_control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  return !valid || is_control ? U'?' : char32_t{c};
}

std::string clean_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) utf8::encode(take_character(text), std::back_inserter(clean));
  return clean;
}

}  // namespace rondo::service
