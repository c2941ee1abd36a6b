// Schemas inside programs: the second header that rondo-schemac writes, next to the one with the messages.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "generated/golden_schema.hpp"
#include "generated/shared_schema.hpp"
#include "tests/catch.hpp"
#include "tests/schemac/compile.hpp"

using schemac_test::read_text;
using schemac_test::schemas;
using schemac_test::workbench;

namespace {

bool holds(std::span<std::byte const> embedded, std::string const& file) {
  return embedded.size() == file.size() && std::memcmp(embedded.data(), file.data(), file.size()) == 0;
}

}  // namespace

TEST_CASE("an embedded schema has the bytes that flatc writes", "[schemac]") {
  workbench bench;
  bench.flatc(schemas / "golden.fbs");
  bench.flatc(schemas / "shared.fbs");
  CHECK(holds(rondo::generated::golden_schema(), read_text(bench.path("golden.bfbs"))));
  CHECK(holds(rondo::generated::shared_schema(), read_text(bench.path("shared.bfbs"))));
}

TEST_CASE("an embedded schema is aligned so that it can be read in place", "[schemac]") {
  CHECK(reinterpret_cast<std::uintptr_t>(rondo::generated::golden_schema().data()) % 16 == 0);
}

TEST_CASE("a schema's file name becomes a C++ name", "[schemac]") {
  workbench bench;
  bench.write("2-odd names.fbs", std::string_view("namespace t; struct s { a:int; }"));
  bench.flatc(bench.path("2-odd names.fbs"));
  auto const out = bench.path("embedded.hpp");
  REQUIRE(bench.compile("2-odd names", "--embed '" + out.string() + "'").exit_code == 0);
  CHECK(read_text(out).find("inline std::span<std::byte const> _2_odd_names_schema() noexcept {") !=
        std::string::npos);
}

TEST_CASE("a header that cannot be written has its own error", "[schemac]") {
  workbench bench;
  bench.flatc(schemas / "shared.fbs");
  auto const done = bench.compile("shared", "--embed '" + bench.path("no/such/folder.hpp").string() + "'");
  CHECK(done.exit_code == 73);
  CHECK(done.complaint.find("folder.hpp: cannot be written") != std::string::npos);
}
