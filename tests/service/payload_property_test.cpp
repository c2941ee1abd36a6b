// Any bytes of any known type survive JSON: to_json and to_bytes are inverse functions.
#include <cmath>
#include <cstring>
#include <random>

#include "tests/catch.hpp"
#include "tests/seed.hpp"
#include "tests/service/example_payload.hpp"
#include "tests/service/known_schemas.hpp"

using namespace rondo::service;
using rondo::field_kind;
using rondo::struct_layout;

namespace {

template <class Float>
void no_nan(std::byte* at) {
  Float value;
  std::memcpy(&value, at, sizeof value);
  if (std::isnan(value)) std::memset(at, 0, sizeof value);
}

/// Bytes that a program could have written: padding 0, flags 0 or 1, one NaN for all.
void fill(std::byte* at, struct_layout const& s, std::mt19937_64& random) {
  for (auto const& f : s.fields)
    for (std::uint32_t i = 0; i < f.count(); ++i) {
      auto* const element = at + f.offset + i * f.element_bytes;
      if (f.nested) {
        fill(element, *f.nested, random);
        continue;
      }
      for (std::uint32_t b = 0; b < f.element_bytes; ++b) element[b] = static_cast<std::byte>(random());
      if (random() % 4 == 0) std::memset(element, 0, f.element_bytes);
      if (f.is_text() && random() % 2 == 0) *element = static_cast<std::byte>('!' + random() % 90);
      if (f.kind == field_kind::boolean) *element &= std::byte{1};
      if (f.kind == field_kind::float32) no_nan<float>(element);
      if (f.kind == field_kind::float64) no_nan<double>(element);
    }
}

}  // namespace

TEST_CASE("random bytes of every known type are unchanged after a round trip through JSON", "[payload]") {
  auto const known = rondo_test::known_schemas();
  std::mt19937_64 random(rondo_test::seed_of("payload_property"));
  for (auto const type : known.names())
    for (int round = 0; round < 500; ++round) {
      std::vector<std::byte> bytes(known.find(type).bytes);
      fill(bytes.data(), known.find(type), random);
      auto const text = known.to_json(type, bytes);
      INFO(type << ": " << text);
      REQUIRE(text.find('\n') == std::string::npos);
      REQUIRE(known.to_bytes(type, text) == bytes);
    }
}

TEST_CASE("the example of every known type is accepted, and equals the JSON of its bytes", "[payload]") {
  auto const known = rondo_test::known_schemas();
  for (auto const type : known.names()) {
    auto const example = rondo_test::example_of(known, type);
    INFO(type << ": " << example);
    CHECK(known.to_json(type, known.to_bytes(type, example)) == example);
  }
}
