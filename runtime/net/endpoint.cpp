#include "runtime/net/endpoint.hpp"

#include <fmt/format.h>

#include <boost/asio/ip/address.hpp>

#include "runtime/text/parse_number.hpp"
#include "runtime/text/shown_url.hpp"

namespace rondo {

endpoint endpoint::parse(std::string const& text, std::string const& origin) {
  auto const refuse = [&](std::string_view why) {
    throw config_error(
        fmt::format("{}: '{}' {}; it must be unix:PATH or tcp:ADDRESS:PORT, as in tcp:127.0.0.1:7400 "
                    "or tcp:[::1]:7400",
                    origin, shown_url(text), why));
  };
  endpoint e;
  if (text.starts_with("unix:")) {
    e.path = text.substr(5);
    if (e.path.empty() || e.path.size() > 107) refuse("has an empty path, or one of more than 107 bytes");
    return e;
  }
  if (!text.starts_with("tcp:")) refuse("begins with neither unix: nor tcp:");
  auto const colon = text.rfind(':');
  if (colon <= 4) refuse("does not have a port");
  e.is_unix = false;
  e.path = text.substr(4, colon - 4);
  if (e.path.starts_with('[') && e.path.ends_with(']')) e.path = e.path.substr(1, e.path.size() - 2);
  auto const port = parse_number(text.substr(colon + 1));
  if (!port || *port > 65'535) refuse("has a port that is not a number from 0 to 65535");
  e.port = static_cast<std::uint16_t>(*port);
  boost::system::error_code no_address;
  boost::asio::ip::make_address(e.path, no_address);
  if (no_address) refuse("does not have a numeric address");
  return e;
}

std::string endpoint::text() const {
  if (is_unix) return "unix:" + path;
  return path.find(':') == std::string::npos ? fmt::format("tcp:{}:{}", path, port)
                                             : fmt::format("tcp:[{}]:{}", path, port);
}

}  // namespace rondo
