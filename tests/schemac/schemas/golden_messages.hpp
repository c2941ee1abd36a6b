// Messages of golden.fbs, written by rondo-schemac: edit the schema, not this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "generated/shared_messages.hpp"
#include "kernels/base/message.hpp"

namespace golden {

enum class extremes : std::int64_t {
  lowest = -9223372036854775807 - 1,
  zero = 0,
  highest = 9223372036854775807,
};

/// Bits that may be set together.
enum class flags : std::uint64_t {
  first = 1u,
  /// The highest bit.
  last = 9223372036854775808u,
};

/// Asks for more alignment than its fields do.
struct alignas(16) aligned {
  std::uint32_t value = {};
  std::uint8_t padding_0_[12] = {};
};
static_assert(sizeof(aligned) == 16);
static_assert(alignof(aligned) == 16);
static_assert(offsetof(aligned, value) == 0);
static_assert(std::is_trivially_copyable_v<aligned>);

/// Three bytes: no alignment of its own.
struct colour {
  std::uint8_t red = {};
  std::uint8_t green = {};
  std::uint8_t blue = {};
};
static_assert(sizeof(colour) == 3);
static_assert(alignof(colour) == 1);
static_assert(offsetof(colour, red) == 0);
static_assert(offsetof(colour, green) == 1);
static_assert(offsetof(colour, blue) == 2);
static_assert(std::is_trivially_copyable_v<colour>);

}  // namespace golden

namespace golden::deep {

struct plain {
  ::golden::aligned inside = {};
};
static_assert(sizeof(plain) == 16);
static_assert(alignof(plain) == 16);
static_assert(offsetof(plain, inside) == 0);
static_assert(std::is_trivially_copyable_v<plain>);

}  // namespace golden::deep

namespace golden {

/// A struct that no actor receives may be larger than a message.
struct page {
  std::uint8_t bytes[200] = {};
};
static_assert(sizeof(page) == 200);
static_assert(alignof(page) == 1);
static_assert(offsetof(page, bytes) == 0);
static_assert(std::is_trivially_copyable_v<page>);

/// Every scalar, each after something smaller, so that there is padding to write.
struct scalars {
  bool a_bool = {};
  std::uint8_t padding_0_[1] = {};
  std::int16_t a_short = {};
  std::int8_t a_byte = {};
  std::uint8_t padding_1_[3] = {};
  std::int32_t an_int = {};
  std::uint8_t a_ubyte = {};
  std::uint8_t padding_2_[3] = {};
  /// Comes after seven bytes of padding.
  std::int64_t a_long = {};
  std::uint16_t a_ushort = {};
  std::uint8_t padding_3_[6] = {};
  double a_double = {};
  std::uint32_t a_uint = {};
  std::uint8_t padding_4_[4] = {};
  std::uint64_t a_ulong = {};
  float a_float = {};
  std::uint8_t padding_5_[4] = {};
};
static_assert(sizeof(scalars) == 64);
static_assert(alignof(scalars) == 8);
static_assert(offsetof(scalars, a_bool) == 0);
static_assert(offsetof(scalars, a_short) == 2);
static_assert(offsetof(scalars, a_byte) == 4);
static_assert(offsetof(scalars, an_int) == 8);
static_assert(offsetof(scalars, a_ubyte) == 12);
static_assert(offsetof(scalars, a_long) == 16);
static_assert(offsetof(scalars, a_ushort) == 24);
static_assert(offsetof(scalars, a_double) == 32);
static_assert(offsetof(scalars, a_uint) == 40);
static_assert(offsetof(scalars, a_ulong) == 48);
static_assert(offsetof(scalars, a_float) == 56);
static_assert(std::is_trivially_copyable_v<scalars>);

/// Arrays, nested structs and enums; a member may be named like its enum.
struct shapes {
  ::golden::colour fill = {};
  std::uint8_t padding_0_[1] = {};
  ::golden::shared::point corners[4] = {};
  ::golden::shared::side side = {};
  ::golden::shared::side sides[3] = {};
  ::golden::flags flags = {};
  ::golden::extremes extremes = {};
  std::int16_t samples[5] = {};
  std::uint8_t padding_1_[6] = {};
};
static_assert(sizeof(shapes) == 72);
static_assert(alignof(shapes) == 8);
static_assert(offsetof(shapes, fill) == 0);
static_assert(offsetof(shapes, corners) == 4);
static_assert(offsetof(shapes, side) == 36);
static_assert(offsetof(shapes, sides) == 37);
static_assert(offsetof(shapes, flags) == 40);
static_assert(offsetof(shapes, extremes) == 48);
static_assert(offsetof(shapes, samples) == 56);
static_assert(std::is_trivially_copyable_v<shapes>);

}  // namespace golden

template <>
struct rondo::message_name_of<::golden::aligned> {
  static constexpr char const* value = "golden.aligned";
};

template <>
struct rondo::message_name_of<::golden::deep::plain> {
  static constexpr char const* value = "golden.deep.plain";
};

template <>
struct rondo::message_name_of<::golden::scalars> {
  static constexpr char const* value = "golden.scalars";
};

template <>
struct rondo::message_name_of<::golden::shapes> {
  static constexpr char const* value = "golden.shapes";
};
