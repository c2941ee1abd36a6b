#include "runtime/nats/sequence_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace rondo::service {

bool sequence_set::contains(std::uint64_t sequence) const {
  if (sequence <= floor_) return true;
  auto const after = above_.upper_bound(sequence);
  return after != above_.begin() && std::prev(after)->second >= sequence;
}

void sequence_set::insert(std::uint64_t sequence) {
  if (contains(sequence)) return;
  auto const after = above_.upper_bound(sequence);
  auto last = sequence;
  if (after != above_.end() && after->first == sequence + 1) last = after->second;
  auto const before = after == above_.begin() ? above_.end() : std::prev(after);
  if (last != sequence) above_.erase(after);
  if (before != above_.end() && before->second + 1 == sequence)
    before->second = last;
  else
    above_.emplace(sequence, last);
  close_gap();
}

void sequence_set::raise_floor(std::uint64_t last) {
  floor_ = std::max(floor_, last);
  while (!above_.empty() && above_.begin()->first <= floor_) {
    floor_ = std::max(floor_, above_.begin()->second);
    above_.erase(above_.begin());
  }
  close_gap();
}

void sequence_set::cut_above(std::uint64_t last) {
  floor_ = std::min(floor_, last);
  above_.erase(above_.upper_bound(last), above_.end());
  if (!above_.empty()) std::prev(above_.end())->second = std::min(std::prev(above_.end())->second, last);
}

std::uint64_t sequence_set::largest() const noexcept {
  return above_.empty() ? floor_ : std::prev(above_.end())->second;
}

void sequence_set::close_gap() {
  if (above_.empty() || above_.begin()->first != floor_ + 1) return;
  floor_ = above_.begin()->second;
  above_.erase(above_.begin());
}

std::string sequence_set::text() const {
  auto text = fmt::format("{}", floor_);
  for (auto const& [first, last] : above_) text += fmt::format(" {}-{}", first, last);
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
  s.floor_ = number();
  for (auto below = s.floor_; at != end;) {
    if (*at++ != ' ') refuse();
    auto const first = number();
    if (at == end || *at++ != '-') refuse();
    auto const last = number();
    if (first <= below || first - below < 2 || last < first) refuse();
    s.above_.emplace_hint(s.above_.end(), first, last);
    below = last;
  }
  return s;
}

}  // namespace rondo::service
