// The time limit of an ask, made from any duration.
#pragma once

#include <chrono>
#include <cstdint>
#include <ratio>
#include <type_traits>
#include <utility>

namespace rondo {

/// No time limit: the ask waits until it is answered or cancelled, or the runtime ends.
inline constexpr std::chrono::nanoseconds no_timeout = std::chrono::nanoseconds::max();

/// At most no_timeout: a duration too long for nanoseconds becomes that instead of overflowing. Fractions are rounded
/// up, so that only a duration of zero or less is a limit of zero or less.
class time_limit {
 public:
  constexpr time_limit() noexcept = default;
  template <class Rep, class Period>
  constexpr time_limit(std::chrono::duration<Rep, Period> d) noexcept : limit_(in_nanoseconds(d)) {}
  constexpr operator std::chrono::nanoseconds() const noexcept { return limit_; }

 private:
  template <class Rep, class Period>
  static constexpr std::chrono::nanoseconds in_nanoseconds(std::chrono::duration<Rep, Period> d) noexcept {
    using factor = std::ratio_divide<Period, std::nano>;
    if (!(d.count() > 0)) return std::chrono::nanoseconds::zero();  // also not a number
    if constexpr (std::is_integral_v<Rep> && factor::den == 1) {
      if (std::cmp_greater(d.count(), no_timeout.count() / factor::num)) return no_timeout;
      return std::chrono::nanoseconds(static_cast<std::int64_t>(d.count()) * factor::num);
    } else {
      auto const ns = std::chrono::duration<double, std::nano>(d).count();
      if (ns >= 0x1p63) return no_timeout;
      auto const whole = static_cast<std::int64_t>(ns);
      return std::chrono::nanoseconds(static_cast<double>(whole) < ns ? whole + 1 : whole);
    }
  }

  std::chrono::nanoseconds limit_ = no_timeout;
};

/// The end of a limit that begins now, within the clock's range.
inline std::chrono::steady_clock::time_point end_of(std::chrono::nanoseconds limit) noexcept {
  using time_point = std::chrono::steady_clock::time_point;
  auto const now = std::chrono::steady_clock::now();
  return limit < time_point::max() - now ? now + limit : time_point::max();
}

}  // namespace rondo
