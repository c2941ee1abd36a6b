// URLs as messages may show them: without user, password or token.
//
// Whatever shows a URL, an endpoint or an argument that may be one passes it through here. Header only, so that actors/
// can use it without linking the runtime.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace rondo {

namespace detail {

/// Whether this can be HOST or HOST:PORT. What cannot, such as `user:pass`, may be part of a password.
inline bool is_host(std::string_view text) noexcept {
  auto const colon = text.rfind(':');
  return colon == text.npos || text.ends_with(']') ||
         text.find_first_not_of("0123456789", colon + 1) == text.npos;
}

/// The length of what precedes a URL's host: user, password, and @. `url` begins after the scheme.
inline std::size_t bytes_of_user(std::string_view url) noexcept {
  auto const authority = url.substr(0, url.find_first_of("/?#"));
  auto at = authority.rfind('@');
  // A password with an unescaped / in it.
  if (at == url.npos && !is_host(authority)) at = url.rfind('@');
  return at == url.npos ? (is_host(authority) ? 0 : authority.size()) : at + 1;
}

}  // namespace detail

/// One URL, several separated by commas, or any text with URLs in it: `tls://user:secret@host` becomes
/// `tls://***@host`, `user:secret@host` becomes `***@host`, and the query of a URL, which may hold a token, `?...`.
/// Text that has neither is returned as it is.
inline std::string shown_url(std::string_view text) {
  constexpr std::string_view mark = "://", hidden = "***@";
  std::string shown;
  auto at = text.find(mark);
  if (at == text.npos) {  // user:secret@host
    auto const colon = text.find(':'), end = text.rfind('@');
    bool const has_user = colon != text.npos && end != text.npos && colon < std::min(end, text.find('/')) &&
                          text[colon + 1] != '/';  // unix:/path
    return has_user ? shown.append(hidden).append(text.substr(end + 1)) : std::string(text);
  }
  for (; at != text.npos; at = text.find(mark)) {
    shown += text.substr(0, at + mark.size());
    text.remove_prefix(at + mark.size());
    if (auto const user = detail::bytes_of_user(text); user != 0) {
      shown += text[user - 1] == '@' ? hidden : hidden.substr(0, 3);
      text.remove_prefix(user);
    }
    auto const end = std::min(text.find_first_of(" |"), text.size());
    if (auto const query = text.find('?'); query < end) {
      shown.append(text.substr(0, query)).append("?...");
      text.remove_prefix(end);
    }
  }
  return shown.append(text);
}

/// The same for each word of a text.
inline std::string shown_words(std::string_view text) {
  std::string shown;
  for (std::size_t end = 0; !text.empty(); text.remove_prefix(end)) {
    end = std::min(text.find_first_of(" \t\n"), text.size());
    shown += shown_url(text.substr(0, end));
    for (; end < text.size() && std::string_view(" \t\n").find(text[end]) != text.npos; ++end)
      shown += text[end];
  }
  return shown;
}

}  // namespace rondo
