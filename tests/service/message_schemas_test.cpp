// Which schemas are accepted, and how types are found. Schemas may come from anybody.
#include <random>

#include "tests/catch.hpp"
#include "tests/schemac/odd_schema.hpp"
#include "tests/seed.hpp"
#include "tests/service/example_payload.hpp"
#include "tests/service/known_schemas.hpp"

using namespace rondo::service;
using rondo::schema_error;
using schemac_test::field;
using schemac_test::object;
using schemac_test::schema_of;

namespace {

std::span<std::byte const> bytes_of_text(std::string const& text) { return std::as_bytes(std::span(text)); }

std::string refusal_of_bytes(std::string const& schema) {
  message_schemas known;
  try {
    known.add(bytes_of_text(schema), "odd.fbs");
  } catch (schema_error const& e) {
    CHECK(known.names().empty());
    return e.what();
  }
  return "accepted";
}

std::string refusal(std::vector<object> const& objects, bool with_union = false) {
  return refusal_of_bytes(schema_of(objects, with_union));
}

object with(field f) { return {.name = "t.s", .fields = {std::move(f)}}; }

std::string lookup(message_schemas const& known, std::string_view type) {
  try {
    return known.find(type).name;
  } catch (payload_error const& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("a type is found by its full name, or by its last part if that is unambiguous", "[schemas]") {
  auto known = rondo_test::known_schemas();
  known.add(bytes_of_text(schema_of({{.name = "street.actor_handle", .fields = {{.name = "a"}}}})),
            "street.fbs");
  CHECK(lookup(known, "rondo.basics.add") == "rondo.basics.add");
  CHECK(lookup(known, "basics.add") == "rondo.basics.add");
  CHECK(lookup(known, "add") == "rondo.basics.add");
  CHECK(lookup(known, "actor_handle") ==
        "'actor_handle' may be rondo.basics.actor_handle or street.actor_handle; give the whole name");
  CHECK_FALSE(known.knows("actor_handle"));
  CHECK_FALSE(known.knows("dd"));
  CHECK_FALSE(known.knows(""));
  CHECK(
      lookup(known, "dd").starts_with("'dd' is not a message of a known schema; known are golden.aligned, "));
  CHECK(lookup(message_schemas{}, "add") == "'add' is not a message of a known schema; no schema is known");
}

TEST_CASE("types are described in one line", "[schemas]") {
  auto const known = rondo_test::known_schemas();
  CHECK(known.describe("add") == "add {amount: ulong}");
  CHECK(known.describe("put") == "put {bytes: [ubyte:64]}");
  CHECK(known.describe("link") == "link {next: actor_handle {index: uint, generation: uint}}");
  CHECK(known.describe("golden.shapes") ==
        "shapes {fill: colour {red: ubyte, green: ubyte, blue: ubyte}, corners: [point {x: float, y: "
        "float}:4], side: "
        "side(left|none|right), sides: [side(left|none|right):3], flags: flags(first|last), extremes: "
        "extremes(lowest|zero|highest), samples: [short:5]}");
  CHECK(rondo_test::example_of(known, "add") == R"({"amount":1})");
  CHECK(rondo_test::example_of(known, "put") == R"({"bytes":"text"})");
}

TEST_CASE("structs that a message cannot hold are left out", "[schemas]") {
  CHECK_FALSE(rondo_test::known_schemas().knows("golden.page"));
  message_schemas known;
  known.add(
      bytes_of_text(schema_of({{.name = "t.wide", .bytes = 64, .align = 32, .fields = {{.name = "a"}}}})),
      "odd.fbs");
  CHECK_FALSE(known.knows("t.wide"));
}

TEST_CASE("a schema may be added again, and one that differs is refused", "[schemas]") {
  auto known = rondo_test::known_schemas();
  auto const count = known.names().size();
  known.add(rondo::generated::basics_schema());
  CHECK(known.names().size() == count);
  auto const other = schema_of({{.name = "rondo.basics.add", .fields = {{.name = "amount"}}},
                                {.name = "rondo.basics.new_one", .fields = {{.name = "a"}}}});
  CHECK_THROWS_WITH(
      known.add(bytes_of_text(other), "other.fbs"),
      "other.fbs: rondo.basics.add: has other fields than in a schema that was read before; build both "
      "sides from one schema");
  CHECK_FALSE(known.knows("rondo.basics.new_one"));
}

TEST_CASE("schemas that flatc would not write are refused by name", "[schemas]") {
  CHECK(refusal({with({.name = "a"})}) == "accepted");
  CHECK(refusal_of_bytes(std::string("not a schema")).find("odd.fbs: is not a binary schema") == 0);
  CHECK(refusal_of_bytes(std::string()).find("odd.fbs: is not a binary schema") == 0);
  CHECK(refusal_of_bytes(std::string(300'000, 'x')).find("more than 256 KiB") != std::string::npos);
  CHECK(refusal({{.name = "t.s", .fields = {}}}) == "odd.fbs: the schema is damaged: t.s: has no field");
  CHECK(refusal({{.name = "t.s", .bytes = 0, .fields = {{.name = "a"}}}}).find("has 0 bytes") !=
        std::string::npos);
  CHECK(refusal({{.name = "t.s", .bytes = -4, .fields = {{.name = "a"}}}}).find("has -4 bytes") !=
        std::string::npos);
  CHECK(refusal({{.name = "t.s", .align = 3, .fields = {{.name = "a"}}}}).find("aligned to 3") !=
        std::string::npos);
  CHECK(refusal({{.name = "t.s", .align = 2, .fields = {{.name = "a"}}}}).find("t.s.a: is misaligned") !=
        std::string::npos);
  CHECK(refusal({with({.name = "a", .offset = 1})}).find("misaligned") != std::string::npos);
  CHECK(refusal({with({.name = "a", .offset = 65532})}).find("reaches beyond") != std::string::npos);
  CHECK(refusal({with({.name = "a", .type = reflection::ULong})}).find("misaligned") != std::string::npos);
  CHECK(refusal({{.name = "t.s", .fields = {{.name = "a"}, {.name = "b"}}}}).find("t.s.b: overlaps") !=
        std::string::npos);
  CHECK(refusal({{.name = "t.s", .bytes = 8, .fields = {{.name = "a"}, {.name = "a", .offset = 4}}}})
            .find("t.s.a: is declared twice") != std::string::npos);
  CHECK(refusal({with({.name = "a"}), with({.name = "a"})}).find("t.s: is declared twice") !=
        std::string::npos);
}

TEST_CASE("types that have no fixed size, or are not there, are refused", "[schemas]") {
  CHECK(refusal({with({.name = "a", .type = reflection::String})}).find("t.s.a: has no fixed size") !=
        std::string::npos);
  CHECK(refusal({with({.name = "a", .type = reflection::Vector, .element = reflection::Int})})
            .find("no fixed size") != std::string::npos);
  CHECK(refusal({with({.name = "a", .type = reflection::MaxBaseType})}).find("no fixed size") !=
        std::string::npos);
  for (int const index : {9, -1, -2147483647, 2147483647})
    CHECK(refusal({with({.name = "a", .type = reflection::Obj, .index = index})}).find("not there") !=
          std::string::npos);
  CHECK(refusal({with({.name = "a", .type = reflection::UInt, .index = 9})}).find("not there") !=
        std::string::npos);
  CHECK(
      refusal({with({.name = "a", .type = reflection::UByte, .index = 0})}, true).find("type of its enum") !=
      std::string::npos);
  CHECK(refusal({with({.name = "a", .type = reflection::Array, .element = reflection::UInt, .length = 0})})
            .find("no elements") != std::string::npos);
  CHECK(
      refusal({with({.name = "a", .type = reflection::Array, .element = reflection::UInt, .length = 65535})})
          .find("reaches beyond") != std::string::npos);
  CHECK(refusal({with({.name = "a", .type = reflection::Array, .element = reflection::Array, .length = 1})})
            .find("no fixed size") != std::string::npos);
}

TEST_CASE("structs that contain themselves, or nest too deep, are refused", "[schemas]") {
  CHECK(refusal({with({.name = "a", .type = reflection::Obj, .index = 0})}).find("contains itself") !=
        std::string::npos);
  // Forwards and backwards, because types that were already read are not read again.
  for (bool const forwards : {true, false}) {
    std::vector<object> chain;
    constexpr int length = 1000;
    for (int i = 0; i < length; ++i) {
      int const next = forwards ? i + 1 : i - 1;
      bool const last = next < 0 || next == length;
      chain.push_back({.name = "t.s" + std::to_string(i),
                       .fields = {last ? field{.name = "a"}
                                       : field{.name = "a", .type = reflection::Obj, .index = next}}});
    }
    auto const why = refusal(chain);
    CHECK(why.find("nest more than 8 deep") != std::string::npos);
    CHECK(why.find("damaged") == std::string::npos);
  }
}

TEST_CASE("invalid identifiers cannot smuggle anything into JSON or logs", "[schemas]") {
  for (auto const* const name : {"a\"b", "", "a b", "1a", "a\n", "a.b"})
    CHECK(refusal({with({.name = name})}).find("not an identifier") != std::string::npos);
  for (auto const* const name : {"", "t..s", ".s", "s.", "t.s\x1b[31m"})
    CHECK(refusal({{.name = name, .fields = {{.name = "a"}}}}).find("not an identifier") !=
          std::string::npos);
  CHECK(refusal({with({.name = std::string(300, 'a')})}) ==
        "odd.fbs: t.s: has a name of more than 256 bytes: " + std::string(40, 'a') + "...");
}

TEST_CASE("a schema with a changed byte is refused or read correctly", "[schemas]") {
  std::mt19937_64 random(rondo_test::seed_of("message_schemas"));
  int accepted = 0, refused = 0;
  auto const sound = rondo::generated::golden_schema();
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> schema(sound.begin(), sound.end());
    for (auto changes = 1 + random() % 3; changes != 0; --changes)
      schema[random() % schema.size()] = static_cast<std::byte>(random());
    if (random() % 8 == 0) schema.resize(random() % schema.size());
    message_schemas known;
    try {
      known.add(schema, "odd.fbs");
    } catch (schema_error const& e) {
      ++refused;
      CHECK_THAT(e.what(), Catch::Matchers::StartsWith("odd.fbs: "));
      CHECK(known.names().empty());  // none of it is used
      continue;
    }
    ++accepted;
    for (auto const type : known.names()) {
      auto const example = rondo_test::example_of(known, type);
      INFO(type << ": " << example);
      auto const bytes = known.to_bytes(type, example);
      REQUIRE(bytes.size() == known.find(type).bytes);
      CHECK(known.to_json(type, bytes) == example);
    }
  }
  CHECK(refused > 0);
  CHECK(accepted > 0);
}
