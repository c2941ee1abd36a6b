// Parsing of whole numbers, of their ratios, and of real numbers.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#if !defined(__cpp_lib_to_chars)
#include <locale>
#include <sstream>
#include <string>
#endif

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

/// The whole text as a number, correctly rounded, whatever the locale; otherwise nullopt.
template <std::floating_point Float>
std::optional<Float> parse_real(std::string_view text) {
  Float number = 0;
#if defined(__cpp_lib_to_chars)
  auto const* const end = text.data() + text.size();
  auto const [stop, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || stop != end) return std::nullopt;
#else  // libc++ 19 has it for whole numbers only; a stream also takes spaces, and a plus sign
  if (text.find_first_not_of("0123456789.eE+-") != text.npos || text.starts_with('+')) return std::nullopt;
  std::istringstream in{std::string(text)};
  in.imbue(std::locale::classic());
  if (!(in >> number) || in.peek() != std::istringstream::traits_type::eof()) return std::nullopt;
#endif
  return number;
}

}  // namespace rondo
