// The structs of the schema compiler compared with flatc's own: each reads what the other writes.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

#include "generated/golden_messages.hpp"
#include "golden_peer_generated.h"
#include "tests/catch.hpp"

namespace {

template <class Ours, class Theirs>
Ours read_as(Theirs const& theirs) {
  static_assert(sizeof(Ours) == sizeof(Theirs));
  static_assert(alignof(Ours) == alignof(Theirs));
  Ours ours;
  std::memcpy(static_cast<void*>(&ours), &theirs, sizeof ours);
  return ours;
}

template <class Ours, class Theirs>
bool same_bytes(Ours const& ours, Theirs const& theirs) {
  return std::memcmp(&ours, &theirs, sizeof ours) == 0;
}

}  // namespace

TEST_CASE("scalars written by flatc's struct are read by ours", "[schemac]") {
  peer::scalars const theirs(true, -2, -3, -400'000, 5, -6'000'000'000, 60'000, 0.125, 4'000'000'000u,
                             std::numeric_limits<std::uint64_t>::max(), -2.5f);
  auto const ours = read_as<golden::scalars>(theirs);
  CHECK(ours.a_bool);
  CHECK(ours.a_short == -2);
  CHECK(ours.a_byte == -3);
  CHECK(ours.an_int == -400'000);
  CHECK(ours.a_ubyte == 5);
  CHECK(ours.a_long == -6'000'000'000);
  CHECK(ours.a_ushort == 60'000);
  CHECK(ours.a_double == 0.125);
  CHECK(ours.a_uint == 4'000'000'000u);
  CHECK(ours.a_ulong == std::numeric_limits<std::uint64_t>::max());
  CHECK(ours.a_float == -2.5f);
}

TEST_CASE("scalars written by our struct are the bytes of flatc's, padding included", "[schemac]") {
  golden::scalars const ours{.a_bool = true,
                             .a_short = -2,
                             .a_byte = -3,
                             .an_int = -400'000,
                             .a_ubyte = 5,
                             .a_long = -6'000'000'000,
                             .a_ushort = 60'000,
                             .a_double = 0.125,
                             .a_uint = 4'000'000'000u,
                             .a_ulong = 7,
                             .a_float = -2.5f};
  peer::scalars const theirs(true, -2, -3, -400'000, 5, -6'000'000'000, 60'000, 0.125, 4'000'000'000u, 7,
                             -2.5f);
  CHECK(same_bytes(ours, theirs));
}

TEST_CASE("arrays, nested structs and enums written by flatc's struct are read by ours", "[schemac]") {
  peer::shapes theirs(peer::colour(1, 2, 3), peer::shared::side::left, peer::flags::last,
                      peer::extremes::lowest);
  for (std::uint16_t i = 0; i < 4; ++i) {
    theirs.mutable_corners()->Mutate(i, peer::shared::point(static_cast<float>(i), -static_cast<float>(i)));
  }
  theirs.mutable_sides()->Mutate(2, peer::shared::side::right);
  for (std::uint16_t i = 0; i < 5; ++i)
    theirs.mutable_samples()->Mutate(i, static_cast<std::int16_t>(-100 * i));

  auto const ours = read_as<golden::shapes>(theirs);
  CHECK(ours.fill.red == 1);
  CHECK(ours.fill.green == 2);
  CHECK(ours.fill.blue == 3);
  for (int i = 0; i < 4; ++i) {
    CHECK(ours.corners[i].x == static_cast<float>(i));
    CHECK(ours.corners[i].y == -static_cast<float>(i));
  }
  CHECK(ours.side == golden::shared::side::left);
  CHECK(ours.sides[0] == golden::shared::side::none);
  CHECK(ours.sides[2] == golden::shared::side::right);
  CHECK(ours.flags == golden::flags::last);
  CHECK(ours.extremes == golden::extremes::lowest);
  for (int i = 0; i < 5; ++i) CHECK(ours.samples[i] == -100 * i);
  CHECK(same_bytes(ours, theirs));
}

TEST_CASE("a struct with forced alignment has flatc's size and bytes", "[schemac]") {
  golden::deep::plain const ours{.inside = {.value = 9}};
  peer::deep::plain const theirs(peer::aligned(9));
  CHECK(same_bytes(ours, theirs));
  CHECK(read_as<golden::deep::plain>(theirs).inside.value == 9);
}

TEST_CASE("enum values are flatc's", "[schemac]") {
  CHECK(static_cast<std::uint64_t>(golden::flags::first) == static_cast<std::uint64_t>(peer::flags::first));
  CHECK(static_cast<std::uint64_t>(golden::flags::last) == std::uint64_t{1} << 63);
  CHECK(static_cast<std::int64_t>(golden::extremes::lowest) == std::numeric_limits<std::int64_t>::min());
  CHECK(static_cast<std::int64_t>(golden::extremes::highest) == std::numeric_limits<std::int64_t>::max());
  CHECK(std::is_same_v<std::underlying_type_t<golden::shared::side>, std::int8_t>);
}

TEST_CASE("messages have names, other structs have none", "[schemac]") {
  CHECK(rondo::message_name_of<golden::scalars>::value == std::string_view("golden.scalars"));
  CHECK(rondo::message_name_of<golden::deep::plain>::value == std::string_view("golden.deep.plain"));
  CHECK(rondo::message_name_of<golden::page>::value == nullptr);
  CHECK(rondo::message_name_of<golden::shared::point>::value == nullptr);
}
