// Parsing of whole numbers, and of their ratios.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace rondo {

/// Accepts only decimal digits, within 64 bits; otherwise nullopt.
inline std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
  std::uint64_t number = 0;
  auto const* const end = text.data() + text.size();
  auto const [stop, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || stop != end) return std::nullopt;
  return number;
}

/// "60000/1001", as rates of video are written: two whole numbers, the second not 0; otherwise nullopt.
inline std::optional<double> parse_ratio(std::string_view text) noexcept {
  auto const slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  auto const above = parse_number(text.substr(0, slash)), below = parse_number(text.substr(slash + 1));
  if (!above || !below || *below == 0) return std::nullopt;
  return static_cast<double>(*above) / static_cast<double>(*below);
}

}  // namespace rondo
