// The event of a line that a handler logs: the text as it stands, and the numbers that the host will put into it.
//
// Layout: body.payload holds the numbers, 8 bytes each, then the text without a zero at its end; `behaviour` holds
// log_bits; `detail` holds the time, in nanoseconds of the device's clock. runtime/observe/log.cpp reads it.
#pragma once

#include "kernels/base/clock.hpp"
#include "kernels/base/log_level.hpp"
#include "kernels/link/device_event.hpp"

namespace rondo {

inline constexpr std::uint32_t max_log_numbers = 4;

/// How 8 bytes are to be read as a number.
enum class log_number : std::uint8_t { unsigned_integer, signed_integer, real, single_real, flag };

/// What a `logged` event says about its payload.
struct log_bits {
  log_level level;
  std::uint8_t numbers;
  std::uint16_t kinds;  // 4 bits for each number, the first one lowest: log_number
};
static_assert(sizeof(log_bits) == sizeof(device_event::behaviour));

/// The numbers of one line.
struct log_numbers {
  std::uint64_t bits[max_log_numbers] = {};
  std::uint16_t kinds = 0;
  std::uint8_t count = 0;

  template <class Number>
  RONDO_HD void add(Number number) noexcept {
    static_assert(std::is_arithmetic_v<Number> || std::is_enum_v<Number>, "a log line takes numbers only");
    if constexpr (std::is_enum_v<Number>)
      add(static_cast<std::underlying_type_t<Number>>(number));
    else if constexpr (std::is_same_v<Number, bool>)
      put(log_number::flag, number);
    else if constexpr (std::is_same_v<Number, float>)
      put(log_number::single_real, number);
    else if constexpr (std::is_floating_point_v<Number>)
      put(log_number::real, static_cast<double>(number));
    else if constexpr (std::is_signed_v<Number>)
      put(log_number::signed_integer, static_cast<std::int64_t>(number));
    else
      put(log_number::unsigned_integer, static_cast<std::uint64_t>(number));
  }

 private:
  template <class Word>
  RONDO_HD void put(log_number kind, Word word) noexcept {
    __builtin_memcpy(&bits[count], &word, sizeof word);
    kinds = static_cast<std::uint16_t>(kinds | static_cast<std::uint32_t>(kind) << 4 * count);
    ++count;
  }
};

/// The text ends after `most` bytes, or before the first zero. Precondition: `most` bytes fit behind the numbers.
RONDO_CALL RONDO_HD inline device_event log_event(actor_id actor, log_level level, log_numbers const& numbers,
                                                  char const* text, std::uint32_t most) noexcept {
  device_event r{.kind = event_kind::logged, .actor = actor, .detail = now_ns()};
  log_bits const about{level, numbers.count, numbers.kinds};
  __builtin_memcpy(&r.behaviour, &about, sizeof about);
  r.body.bytes = std::uint32_t{numbers.count} * 8;
  __builtin_memcpy(r.body.payload, numbers.bits, r.body.bytes);
  for (std::uint32_t i = 0; i < most && text[i] != 0; ++i)
    r.body.payload[r.body.bytes++] = static_cast<std::byte>(text[i]);
  return r;
}

}  // namespace rondo
