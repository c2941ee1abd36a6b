#include "runtime/nats/nats_servers.hpp"

#include <fmt/format.h>

#include <string_view>

#include "runtime/text/clean_text.hpp"
#include "runtime/text/parse_number.hpp"
#include "runtime/text/shown_url.hpp"

namespace rondo::service {
namespace {

constexpr std::string_view after_scheme = "://";

struct one_server {
  std::string scheme = "nats", user;  // the user with its @
  std::string host;                   // with its port
};

std::string_view trimmed(std::string_view text) {
  auto const begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

/// Returns why it is refused, or nothing.
std::string parse_one(std::string_view text, one_server& to) {
  if (text.empty()) return "names an empty server";
  if (auto const mark = text.find(after_scheme); mark != text.npos) {
    to.scheme = text.substr(0, mark);
    text.remove_prefix(mark + after_scheme.size());
    if (to.scheme != "nats" && to.scheme != "tls")
      return fmt::format("has the scheme '{}'; it must be nats or tls", clean_text(to.scheme));
  }
  if (auto const at = text.rfind('@'); at != text.npos) {
    to.user = text.substr(0, at + 1);
    text.remove_prefix(at + 1);
  }
  if (text.ends_with('/')) text.remove_suffix(1);
  auto const bracket = text.rfind(']');
  auto const colon = text.rfind(':');
  bool const has_port = colon != text.npos && (bracket == text.npos || colon > bracket);
  auto const host = text.substr(0, has_port ? colon : text.size());
  if (host.empty() || host.find_first_of("/?# \t") != host.npos ||
      (bracket == text.npos && host.find(':') != host.npos))
    return "has a host that is empty or not a name or an address";
  auto const port = has_port ? parse_number(text.substr(colon + 1)) : 4222;
  if (!port || *port == 0 || *port > 65'535) return "has a port that is not a number from 1 to 65535";
  to.host = fmt::format("{}:{}", host, *port);
  return {};
}

}  // namespace

nats_servers parse_nats_servers(std::string const& text) {
  auto const refuse = [&](std::string const& why) {
    // Without a scheme, a token would not be recognised as one.
    bool const has_scheme = text.find(after_scheme) != text.npos;
    auto const shown = shown_url(has_scheme ? text : std::string("nats://") + text);
    throw config_error(
        fmt::format("nats: '{}' {}; give it as nats://HOST:PORT or tls://HOST:PORT, or several of these with "
                    "commas between; a password must not contain a comma",
                    clean_text(shown), why));
  };
  nats_servers all;
  std::string scheme;
  std::string_view rest = text;
  for (bool more = true; more;) {
    auto const comma = rest.find(',');
    more = comma != rest.npos;
    one_server one;
    if (auto const why = parse_one(trimmed(rest.substr(0, comma)), one); !why.empty()) refuse(why);
    if (more) rest.remove_prefix(comma + 1);
    if (scheme.empty()) scheme = one.scheme;
    if (scheme != one.scheme) refuse("mixes servers with TLS and without; give all of them the same scheme");
    all.urls.push_back(fmt::format("{}://{}{}", one.scheme, one.user, one.host));
    all.shown += fmt::format("{}{}://{}{}", all.shown.empty() ? "" : ",", one.scheme,
                             one.user.empty() ? "" : "***@", clean_text(one.host));
  }
  all.tls = scheme == "tls";
  return all;
}

}  // namespace rondo::service
