#include "runtime/service/json/clean_text.hpp"

#include <cstdint>

namespace rondo::service {

namespace {

/// The length in bytes of the UTF-8 character at the start of `text`. 0: it is not valid, as are overlong forms,
/// surrogates, and code points beyond the last one.
std::size_t character_bytes(std::string_view text) noexcept {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto const first = byte(0);
  if (first < 0x80) return 1;
  std::size_t const bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (bytes == 0 || text.size() < bytes) return 0;
  std::uint32_t code = first & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  static constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  return code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : bytes;
}

/// Control characters of ASCII, and of the C1 range (U+0080 to U+009F), which terminals also obey.
bool is_control(std::string_view character) noexcept {
  auto const first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    auto const bytes = character_bytes(text);
    if (bytes == 0 || is_control(text.substr(0, bytes)))
      clean += '?';
    else
      clean += text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return clean;
}

}  // namespace rondo::service
