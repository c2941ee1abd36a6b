// Parsing of a whole number.
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

}  // namespace rondo
