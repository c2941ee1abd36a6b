#include "runtime/nats/sequence_set.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace rondo::service {

std::string sequence_set::text() const {
  auto text = fmt::format("{}", all_.begin()->upper());
  for (auto r = std::next(all_.begin()); r != all_.end(); ++r)
    text += fmt::format(" {}-{}", r->lower(), r->upper());
  return text;
}

sequence_set sequence_set::parse(std::string_view text) {
  auto const* at = text.data();
  auto const* const end = at + text.size();
  auto const refuse = [&] {
    throw std::invalid_argument(fmt::format("'{}' is not a set of sequences", text.substr(0, 100)));
  };
  auto const number = [&] {
    std::uint64_t n = 0;
    auto const [stop, failed] = std::from_chars(at, end, n);
    if (failed != std::errc()) refuse();
    at = stop;
    return n;
  };
  sequence_set s;
  s.raise_floor(number());
  while (at != end) {
    if (*at++ != ' ') refuse();
    auto const first = number();
    if (at == end || *at++ != '-') refuse();
    auto const last = number(), below = s.largest();
    if (first <= below || first - below < 2 || last < first) refuse();
    s.all_.add(range(first, last));
  }
  return s;
}

}  // namespace rondo::service
