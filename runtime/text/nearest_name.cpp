#include "runtime/text/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace rondo {

namespace {

/// How many letters must be inserted, removed or replaced (Levenshtein's distance).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      auto const replaced = diagonal + (a[i] != b[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view given, std::vector<std::string> const& known) {
  if (given.size() > 64) return {};
  std::string_view best;
  auto least = std::max<std::size_t>(given.size() / 2, 1) + 1;
  for (auto const& name : known)
    if (auto const d = distance(given, name); d < least && d < name.size()) least = d, best = name;
  return std::string(best);
}

std::string did_you_mean(std::string_view given, std::vector<std::string> const& known) {
  auto const nearest = nearest_name(given, known);
  return nearest.empty() ? std::string() : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace rondo
