// Message payloads as JSON: conversion in both directions, and the texts of refusals.
#include <cstring>
#include <limits>
#include <string>

#include "generated/basics_messages.hpp"
#include "generated/golden_messages.hpp"
#include "tests/catch.hpp"
#include "tests/service/known_schemas.hpp"

using rondo::service::payload_error;
using rondo_test::bytes_of;

namespace {

auto const known = rondo_test::known_schemas();

template <class Message>
Message from_json(std::string_view type, std::string_view json) {
  auto const bytes = known.to_bytes(type, json);
  REQUIRE(bytes.size() == sizeof(Message));
  Message m;
  std::memcpy(static_cast<void*>(&m), bytes.data(), sizeof m);
  return m;
}

template <class Message>
std::string to_json(std::string_view type, Message const& m) {
  return known.to_json(type, bytes_of(m));
}

std::string refusal(std::string_view type, std::string_view json) {
  try {
    known.to_bytes(type, json);
  } catch (payload_error const& e) {
    return e.what();
  }
  return "accepted";
}

std::string refused_scalar(std::string_view json) { return refusal("golden.scalars", json); }

}  // namespace

TEST_CASE("a JSON object becomes the bytes of the C++ struct", "[payload]") {
  auto const m = from_json<golden::scalars>(
      "golden.scalars",
      R"({"a_bool": true, "a_short": -2, "a_byte": -128, "an_int": -400000, "a_ubyte": 255, "a_long": -9223372036854775808,
          "a_ushort": 65535, "a_double": 0.1, "a_uint": 4294967295, "a_ulong": 18446744073709551615, "a_float": -2.5})");
  CHECK(m.a_bool);
  CHECK(m.a_short == -2);
  CHECK(m.a_byte == -128);
  CHECK(m.an_int == -400'000);
  CHECK(m.a_ubyte == 255);
  CHECK(m.a_long == std::numeric_limits<std::int64_t>::min());
  CHECK(m.a_ushort == 65535);
  CHECK(m.a_double == 0.1);
  CHECK(m.a_uint == 4'294'967'295u);
  CHECK(m.a_ulong == std::numeric_limits<std::uint64_t>::max());
  CHECK(m.a_float == -2.5f);
  golden::scalars const again = m;
  CHECK(std::memcmp(known.to_bytes("golden.scalars", to_json("golden.scalars", again)).data(), &m,
                    sizeof m) == 0);
}

TEST_CASE("omitted fields are 0, and so is padding", "[payload]") {
  for (auto const b : known.to_bytes("golden.scalars", "{}")) CHECK(b == std::byte{0});
  auto const bytes = known.to_bytes("golden.scalars", R"({"a_bool":true})");
  CHECK(bytes[0] == std::byte{1});
  CHECK(bytes[1] == std::byte{0});
}

TEST_CASE("nested structs, arrays and enums are read by name and number", "[payload]") {
  auto const m = from_json<golden::shapes>("golden.shapes", R"({
    "fill": {"blue": 3, "red": 1}, "corners": [{"x": 1}, {}, {"y": -0.5, "x": 1e3}, {"x": 7}], "side": "left",
    "sides": ["right", 0, -1], "flags": "last", "extremes": "lowest", "samples": [1, 2, 3, 4, -5]})");
  CHECK(m.fill.red == 1);
  CHECK(m.fill.green == 0);
  CHECK(m.fill.blue == 3);
  CHECK(m.corners[2].x == 1000.0f);
  CHECK(m.corners[2].y == -0.5f);
  CHECK(m.side == golden::shared::side::left);
  CHECK(m.sides[0] == golden::shared::side::right);
  CHECK(m.sides[2] == golden::shared::side::left);
  CHECK(m.flags == golden::flags::last);
  CHECK(m.extremes == golden::extremes::lowest);
  CHECK(m.samples[4] == -5);
  CHECK(
      to_json("golden.shapes", m) ==
      R"({"fill":{"red":1,"green":0,"blue":3},"corners":[{"x":1,"y":0},{"x":0,"y":0},{"x":1000,"y":-0.5},{"x":7,"y":0}],)"
      R"("side":"left","sides":["right","none","left"],"flags":"last","extremes":"lowest","samples":[1,2,3,4,-5]})");
}

TEST_CASE("an enum's value without a name is a number", "[payload]") {
  auto const m = from_json<golden::shapes>("golden.shapes", R"({"side": 5, "flags": 9223372036854775809})");
  CHECK(static_cast<int>(m.side) == 5);
  auto const text = to_json("golden.shapes", m);
  CHECK(text.find(R"("side":5,)") != std::string::npos);
  CHECK(text.find(R"("flags":9223372036854775809,)") != std::string::npos);
}

TEST_CASE("bytes are a string if they are readable text, otherwise a list", "[payload]") {
  auto m = from_json<rondo::basics::put>("put", R"({"bytes": "say \"hi\""})");
  CHECK(std::memcmp(m.bytes, "say \"hi\"\0\0", 10) == 0);
  CHECK(to_json("put", m) == R"({"bytes":"say \"hi\""})");
  m = from_json<rondo::basics::put>("put", R"({"bytes": "\u00e9"})");
  CHECK(m.bytes[0] == 0xc3);
  CHECK(to_json("put", m).starts_with(R"({"bytes":[195,169,0,0,)"));
  CHECK(to_json("put", rondo::basics::put{}).starts_with(R"({"bytes":[0,0,)"));
  std::string const whole(64, 'x');
  m = from_json<rondo::basics::put>("put", "{\"bytes\": \"" + whole + "\"}");
  CHECK(m.bytes[63] == 'x');
  CHECK(refusal("put", "{\"bytes\": \"" + whole + "x\"}") ==
        "payload of rondo.basics.put: bytes: is a string of 65 bytes; it must be a string of at most 64 "
        "bytes, or a list "
        "of 64 numbers");
}

TEST_CASE("floats are exact, and NaN and infinities are strings", "[payload]") {
  golden::scalars m;
  m.a_float = std::numeric_limits<float>::denorm_min();
  m.a_double = 1e23;
  auto text = to_json("scalars", m);
  CHECK(from_json<golden::scalars>("scalars", text).a_float == m.a_float);
  CHECK(from_json<golden::scalars>("scalars", text).a_double == m.a_double);
  m.a_float = std::numeric_limits<float>::quiet_NaN();
  m.a_double = -std::numeric_limits<double>::infinity();
  text = to_json("scalars", m);
  CHECK(text.find(R"("a_double":"-Infinity")") != std::string::npos);
  CHECK(text.find(R"("a_float":"NaN")") != std::string::npos);
  CHECK(from_json<golden::scalars>("scalars", text).a_double == m.a_double);
  for (auto const* const beyond : {"3.5e38", "1e400", "-1e400", "1e-60", "1e-400", "\"nan\"", "true"})
    CHECK(refused_scalar(std::string(R"({"a_float": )") + beyond + "}").find("within the range of a float") !=
          std::string::npos);
  CHECK(from_json<golden::scalars>("scalars", R"({"a_float": -0.0})").a_float == 0.0f);
}

TEST_CASE("a value that does not fit is refused with its path, the value found and the accepted ones",
          "[payload]") {
  CHECK(refusal("rondo.basics.add", R"({"amount": "2"})") ==
        "payload of rondo.basics.add: amount: is a string; it must be a whole number from 0 to "
        "18446744073709551615");
  CHECK(refusal("add", R"({"amount": 18446744073709551616})") ==
        "payload of rondo.basics.add: amount: is 18446744073709551616; it must be a whole number from 0 to "
        "18446744073709551615");
  CHECK(refusal("golden.shapes", R"({"corners": [{}, {}, {"x": "far"}, {}]})") ==
        "payload of golden.shapes: corners[2].x: is a string; it must be a number within the range of a "
        "float, \"NaN\", "
        "\"Infinity\" or \"-Infinity\"");
  CHECK(refusal("golden.shapes", R"({"corners": [{}]})") ==
        "payload of golden.shapes: corners: is a list of 1 entries; it must be a list of 4 entries");
  CHECK(refusal("golden.shapes", R"({"side": "up"})") ==
        "payload of golden.shapes: side: is \"up\"; it must be one of left, none, right, or a whole number "
        "from -128 to "
        "127");
  CHECK(refusal("golden.shapes", R"({"fill": {"pink": 1}})") ==
        "payload of golden.shapes: fill: \"pink\" is not a field of golden.colour; expected one of red, "
        "green, blue");
  CHECK(refusal("golden.shapes", R"({"fill": 7})") ==
        "payload of golden.shapes: fill: is 7; it must be an object with fields of golden.colour: red, "
        "green, blue");
  CHECK(
      refusal("add", "[1]") ==
      "payload of rondo.basics.add: is a list; it must be an object with fields of rondo.basics.add: amount");
}

TEST_CASE("a field given twice is refused", "[payload]") {
  CHECK(refusal("add", R"({"amount": 1, "amount": 1})") ==
        "payload of rondo.basics.add: amount: is given twice");
  CHECK(refusal("add", R"({"amount": 1, "\u0061mount": 2})") ==
        "payload of rondo.basics.add: amount: is given twice");
  CHECK(refusal("golden.shapes", R"({"fill": {"red": 1, "red": 1}})") ==
        "payload of golden.shapes: fill.red: is given twice");
}

TEST_CASE("integers have neither fractions nor exponents, and stay in their range", "[payload]") {
  for (auto const* const wrong : {"1.5", "1.0", "1e3", "-1", "256", "true", "null", "\"1\"", "[1]", "{}"})
    CHECK(refused_scalar(std::string(R"({"a_ubyte": )") + wrong + "}").find("whole number from 0 to 255") !=
          std::string::npos);
  for (auto const* const wrong : {"-129", "128"})
    CHECK(refused_scalar(std::string(R"({"a_byte": )") + wrong + "}").find("from -128 to 127") !=
          std::string::npos);
  for (auto const* const wrong : {"-9223372036854775809", "9223372036854775808"})
    CHECK(refused_scalar(std::string(R"({"a_long": )") + wrong + "}").find("9223372036854775807") !=
          std::string::npos);
  for (auto const* const wrong : {"0", "1", "\"true\"", "null"})
    CHECK(refused_scalar(std::string(R"({"a_bool": )") + wrong + "}").find("true or false") !=
          std::string::npos);
}

TEST_CASE("text that is not JSON is refused with its position", "[payload]") {
  CHECK(refusal("add", "{\n  \"amount\": 1,\n}") ==
        "payload of rondo.basics.add: line 3, column 1: syntax error");
  CHECK(refusal("add", "") == "payload of rondo.basics.add: is empty; it must be JSON text");
  CHECK(refusal("add", R"({"amount": 1} x)").find("line 1, column 15: ") != std::string::npos);
  CHECK(refusal("add", R"({"amount": 1)").find("incomplete JSON") != std::string::npos);
  CHECK(refusal("add", "{\"amount\": \"\xff\"}").find("column") != std::string::npos);
  CHECK(refusal("add", std::string(70'000, ' ')).find("the limit is 65536") != std::string::npos);
  CHECK(refusal("add", std::string(1000, '[')).find("too deep") != std::string::npos);
  CHECK(refusal("add", "{\"amount\": [" + std::string(600, '1') + "]}").find("is a list") !=
        std::string::npos);
}

TEST_CASE("bytes that do not have the type's length are refused", "[payload]") {
  CHECK_THROWS_WITH(known.to_json("add", std::vector<std::byte>(7)),
                    "payload of rondo.basics.add: has 7 bytes; the type has 8");
}

TEST_CASE("a type without a schema is written in hexadecimal digits", "[payload]") {
  using rondo::service::bytes_from_hex;
  std::vector<std::byte> const bytes{std::byte{0x0a}, std::byte{0x1b}, std::byte{0xff}};
  CHECK(rondo::service::bytes_to_hex(bytes) == R"({"hex":"0a1bff"})");
  CHECK(bytes_from_hex(R"({"hex": "0a1BFf"})") == bytes);
  CHECK(bytes_from_hex(R"({"hex": ""})").empty());
  for (auto const* const wrong :
       {"{}", R"({"hex": 1})", R"({"hex": "0"})", R"({"hex": "0x"})", R"({"hex": "+1"})",
        R"({"hex": "00", "hex": "01"})", R"({"bytes": "00"})", "\"00\"", "{"})
    CHECK_THROWS_AS(bytes_from_hex(wrong), payload_error);
}
