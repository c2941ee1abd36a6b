// The header that rondo-schemac writes for the golden schema.
#include <filesystem>
#include <string>
#include <string_view>

#include "tests/catch.hpp"
#include "tests/schemac/compile.hpp"

using schemac_test::read_text;
using schemac_test::schemas;
using schemac_test::workbench;

// After an intended change of the output: review the difference, then copy the new header over the old one.
TEST_CASE("the header of the golden schema is the golden header", "[schemac]") {
  workbench bench;
  bench.flatc(schemas / "golden.fbs");
  auto const done = bench.compile("golden");
  REQUIRE(done.complaint == "");
  REQUIRE(done.exit_code == 0);
  CHECK(read_text(bench.path("golden.hpp")) == read_text(schemas / "golden_messages.hpp"));
}

TEST_CASE("the same schema gives the same header from any folder", "[schemac]") {
  workbench here;
  workbench there;
  here.flatc(schemas / "golden.fbs");
  std::filesystem::copy(schemas / "golden.fbs", there.path("golden.fbs"));
  std::filesystem::copy(schemas / "shared.fbs", there.path("shared.fbs"));
  there.flatc(there.path("golden.fbs"));
  REQUIRE(here.compile("golden").exit_code == 0);
  REQUIRE(there.compile("golden").exit_code == 0);
  CHECK(read_text(here.path("golden.hpp")) == read_text(there.path("golden.hpp")));
}

TEST_CASE("each --include is written before the types", "[schemac]") {
  workbench bench;
  bench.flatc(schemas / "shared.fbs");
  REQUIRE(bench.compile("shared", "--include one/first.hpp --include second.hpp").exit_code == 0);
  auto const header = read_text(bench.path("shared.hpp"));
  auto const first = header.find("#include \"one/first.hpp\"\n#include \"second.hpp\"\n");
  REQUIRE(first != std::string::npos);
  CHECK(first < header.find("namespace"));
}

TEST_CASE("a comment that ends in a backslash does not swallow the line after it", "[schemac]") {
  workbench bench;
  bench.write("slash.fbs",
              std::string_view("namespace t;\n/// Splits on \\\n/// / and \\ \nstruct s { a:int; }"));
  bench.flatc(bench.path("slash.fbs"));
  REQUIRE(bench.compile("slash").exit_code == 0);
  CHECK(read_text(bench.path("slash.hpp")).find("/// Splits on\n/// / and\nstruct s {\n") !=
        std::string::npos);
}
