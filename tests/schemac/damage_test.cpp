// Binary schemas that pass FlatBuffers' verifier but that flatc would never write: each is refused by name.
#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.hpp"
#include "tests/schemac/compile.hpp"
#include "tests/schemac/odd_schema.hpp"

namespace {

using schemac_test::field;
using schemac_test::object;

schemac_test::outcome compile(std::vector<object> const& objects, bool with_union = false) {
  schemac_test::workbench bench;
  bench.write("odd.bfbs", schemac_test::schema_of(objects, with_union));
  return bench.compile("odd");
}

void check_refused(std::vector<object> const& objects, std::string_view expected, bool with_union = false) {
  auto const done = compile(objects, with_union);
  INFO(done.complaint);
  INFO("lacks: " << expected);
  CHECK(done.exit_code == 65);
  CHECK(done.complaint.find(expected) != std::string::npos);
}

object const sound{.name = "t.s", .fields = {{.name = "a"}}};

}  // namespace

TEST_CASE("a valid binary schema built by hand is accepted", "[schemac]") {
  CHECK(compile({sound}).exit_code == 0);
}

TEST_CASE("types without a fixed layout are refused in a struct", "[schemac]") {
  auto const with = [](field f) { return std::vector<object>{{.name = "t.s", .fields = {f}}}; };
  check_refused(with({.name = "text", .type = reflection::String}),
                "odd.fbs: the schema is damaged: t.s.text: has no fixed size");
  check_refused(with({.name = "list", .type = reflection::Vector, .element = reflection::Int}),
                "t.s.list: has no fixed size");
  check_refused(with({.name = "which", .type = reflection::Union, .index = 0}),
                "t.s.which: has no fixed size", true);
  check_refused(with({.name = "kind", .type = reflection::UByte, .index = 0}),
                "t.s.kind: does not have the type of its enum", true);
  check_refused({{.name = "t.s", .fields = {{.name = "inner", .type = reflection::Obj, .index = 1}}},
                 {.name = "t.table", .fields = {}, .is_struct = false, .is_message = false}},
                "t.s.inner: is a table");
}

TEST_CASE("a message aligned to more than 16 bytes is refused", "[schemac]") {
  check_refused({{.name = "t.s", .bytes = 32, .align = 32, .fields = {{.name = "a"}}}},
                "t.s: the message is aligned to 32 bytes, 16 is the limit");
}

TEST_CASE("indices out of range are refused", "[schemac]") {
  check_refused({{.name = "t.s", .fields = {{.name = "a", .type = reflection::Obj, .index = 9}}}}, "t.s.a: ");
  check_refused({{.name = "t.s", .fields = {{.name = "a", .type = reflection::Obj, .index = -1}}}},
                "t.s.a: ");
  check_refused({{.name = "t.s", .fields = {{.name = "a", .type = reflection::UInt, .index = 9}}}},
                "t.s.a: ");
}

TEST_CASE("impossible layouts are refused", "[schemac]") {
  check_refused({{.name = "t.s", .fields = {}}}, "the schema is damaged: t.s");
  check_refused({{.name = "t.s", .bytes = 0, .fields = {{.name = "a"}}}}, "the schema is damaged: t.s");
  check_refused({{.name = "t.s", .bytes = -4, .fields = {{.name = "a"}}}}, "the schema is damaged: t.s");
  check_refused({{.name = "t.s", .align = 3, .fields = {{.name = "a"}}}}, "the schema is damaged: t.s");
  check_refused({{.name = "t.s", .align = 2, .fields = {{.name = "a"}}}}, "the schema is damaged: t.s");
  check_refused({{.name = "t.s", .bytes = 8, .fields = {{.name = "a", .offset = 4}}}},
                "the schema is damaged: t.s");
  check_refused({{.name = "t.s", .bytes = 8, .fields = {{.name = "a"}, {.name = "b", .offset = 2}}}},
                "t.s.b: ");
  check_refused({{.name = "t.s", .bytes = 8, .fields = {{.name = "a"}, {.name = "b"}}}}, "t.s.b: overlaps");
  check_refused({{.name = "t.s", .fields = {{.name = "a", .type = reflection::ULong}}}}, "t.s");
  check_refused(
      {{.name = "t.s",
        .fields = {{.name = "a", .type = reflection::Array, .element = reflection::Int, .length = 0}}}},
      "t.s.a: ");
}

TEST_CASE("structs that contain themselves are refused", "[schemac]") {
  check_refused({{.name = "t.s", .fields = {{.name = "a", .type = reflection::Obj, .index = 0}}}},
                "contains itself");
  check_refused({{.name = "t.r", .fields = {{.name = "a", .type = reflection::Obj, .index = 1}}},
                 {.name = "t.s", .fields = {{.name = "a", .type = reflection::Obj, .index = 0}}}},
                "contains itself");
}

TEST_CASE("invalid identifiers cannot smuggle code into the header", "[schemac]") {
  check_refused({{.name = "t.s", .fields = {{.name = "a; int b"}}}}, "not an identifier");
  check_refused({{.name = "t.s{}", .fields = {{.name = "a"}}}}, "not an identifier");
  check_refused({{.name = "", .fields = {{.name = "a"}}}}, "not an identifier");
  check_refused({{.name = "t..s", .fields = {{.name = "a"}}}}, "not an identifier");
}
