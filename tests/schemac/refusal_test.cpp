// The refusals of the schema compiler, which is run as a user would: a schema through flatc, then rondo-schemac.
#include <filesystem>
#include <string>
#include <string_view>

#include "tests/catch.hpp"
#include "tests/schemac/compile.hpp"

using schemac_test::outcome;
using schemac_test::workbench;

namespace {

constexpr int usage = 64;
constexpr int bad_schema = 65;
constexpr int no_input = 66;
constexpr int cannot_create = 73;

std::string const preamble = "attribute \"message\"; namespace t;\n";

outcome compile(std::string const& schema) {
  workbench bench;
  bench.write("wrong.fbs", preamble + schema);
  bench.flatc(bench.path("wrong.fbs"));
  auto const done = bench.compile("wrong");
  CHECK(std::filesystem::exists(bench.path("wrong.hpp")) == (done.exit_code == 0));
  return done;
}

void check_refused(std::string const& schema, std::string_view expected) {
  auto const done = compile(schema);
  INFO(schema);
  INFO(done.complaint);
  CHECK(done.exit_code == bad_schema);
  CHECK(done.complaint.starts_with("rondo-schemac: wrong.fbs: "));
  INFO("lacks: " << expected);
  CHECK(done.complaint.find(expected) != std::string::npos);
}

/// Structs that nest so deep.
std::string nested(int levels) {
  std::string text = "struct s1 { a:int; }\n";
  for (int i = 2; i <= levels; ++i)
    text += "struct s" + std::to_string(i) + " { a:s" + std::to_string(i - 1) + "; }\n";
  return text;
}

}  // namespace

TEST_CASE("a message of 96 bytes is accepted, one more is refused", "[schemac]") {
  CHECK(compile("struct large (message) { bytes:[ubyte:96]; }").exit_code == 0);
  check_refused("struct large (message) { bytes:[ubyte:97]; }",
                "t.large.bytes: the message has 97 bytes, 96 is the limit");
  check_refused("struct large (message) { head:[ulong:11]; body:[ulong:2]; tail:uint; }", "t.large.body: ");
  CHECK(compile("struct large { bytes:[ubyte:97]; }").exit_code == 0);
}

TEST_CASE("a message that grows past the limit by its padding is refused", "[schemac]") {
  check_refused("struct padded (message) { number:ulong; bytes:[ubyte:89]; }",
                "t.padded.bytes: the message has 104");
}

TEST_CASE("a message with an alignment of 16 is accepted", "[schemac]") {
  CHECK(compile("struct wide (message, force_align: 16) { number:uint; }").exit_code == 0);
}

TEST_CASE("a table with (message) is refused", "[schemac]") {
  check_refused("struct fine { a:int; } table order (message) { text:string; }",
                "t.order: is a table with (message); a message has a fixed layout: make it a struct");
}

TEST_CASE("a schema without structs is refused", "[schemac]") {
  check_refused("table only { a:int; }", "declares no struct");
  check_refused("enum lonely : byte { a }", "declares no struct");
}

TEST_CASE("names that are invalid in C++ are refused", "[schemac]") {
  check_refused("struct s { class:int; }", "t.s.class: is a C++ keyword");
  check_refused("struct s { co_await:int; }", "t.s.co_await: is a C++ keyword");
  check_refused("struct requires { a:int; }", "t.requires: the name 'requires' is a C++ keyword");
  check_refused("enum e : byte { default } struct s { a:e; }", "t.e.default: is a C++ keyword");
  check_refused("namespace t.operator; struct s { a:int; }", "the name 'operator' is a C++ keyword");
  check_refused("namespace std; struct s { a:int; }", "the name 'std' is a namespace of the C++ standard");
  check_refused("struct s { a__b:int; }", "t.s.a__b: is reserved for the C++ implementation");
  check_refused("struct s { _Large:int; }", "t.s._Large: is reserved for the C++ implementation");
  check_refused("struct s { padding_0_:int; }", "t.s.padding_0_: is reserved for the padding");
}

TEST_CASE("a name that only contains a keyword is accepted", "[schemac]") {
  CHECK(compile("struct s { classes:int; new_value:int; padding:int; }").exit_code == 0);
}

TEST_CASE("a schema may be larger than one that a service accepts from another process", "[schemac]") {
  CHECK(compile(nested(30)).exit_code == 0);
  CHECK(compile("struct " + std::string(300, 'n') + " { " + std::string(300, 'a') + ":int; }").exit_code ==
        0);
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "struct s" + std::to_string(i) + " { a:int; b:int; }\n";
  CHECK(compile(many).exit_code == 0);
}

TEST_CASE("structs that nest too deep for the compiler are refused without calling them damaged",
          "[schemac]") {
  check_refused(nested(70), "structs nest more than 64 deep");
  CHECK(compile(nested(70)).complaint.find("damaged") == std::string::npos);
}

TEST_CASE("bytes that are not a binary schema are refused", "[schemac]") {
  workbench bench;
  auto const refused = [&](std::string const& bytes) {
    bench.write("wrong.bfbs", bytes);
    auto const done = bench.compile("wrong");
    CHECK(done.exit_code == bad_schema);
    CHECK(done.complaint.starts_with("rondo-schemac: wrong.fbs: "));
  };
  refused("");
  refused("BFBS");
  refused(preamble + "struct s { a:int; }");
  refused(std::string("\xff\xff\xff\xff", 4) + "BFBS" + std::string(64, '\0'));
}

TEST_CASE("a binary schema cut short anywhere is refused", "[schemac]") {
  workbench bench;
  bench.write("whole.fbs", preamble + "struct s (message) { a:int; }");
  bench.flatc(bench.path("whole.fbs"));
  auto const whole = schemac_test::read_text(bench.path("whole.bfbs"));
  for (std::size_t const bytes : {std::size_t{9}, whole.size() / 4, whole.size() / 2, whole.size() - 4}) {
    bench.write("cut.bfbs", std::string_view(whole).substr(0, bytes));
    CHECK(bench.compile("cut").exit_code == bad_schema);
  }
}

TEST_CASE("bad options exit with 64 and help with 0", "[schemac]") {
  workbench bench;
  CHECK(bench.schemac("").exit_code == usage);
  CHECK(bench.schemac("--schema only.bfbs").exit_code == usage);
  CHECK(bench.schemac("--schema a.bfbs --output b.hpp --colour red").exit_code == usage);
  CHECK(bench.schemac("--help").exit_code == 0);
}

TEST_CASE("a schema that cannot be read exits with 66", "[schemac]") {
  workbench bench;
  auto const missing = bench.compile("missing");
  CHECK(missing.exit_code == no_input);
  CHECK(missing.complaint.find("missing.bfbs: cannot be read") != std::string::npos);
  std::filesystem::create_directory(bench.path("folder.bfbs"));
  CHECK(bench.compile("folder").exit_code == no_input);
}

TEST_CASE("an output that cannot be written exits with 73 and leaves nothing behind", "[schemac]") {
  workbench bench;
  bench.write("s.fbs", preamble + "struct s { a:int; }");
  bench.flatc(bench.path("s.fbs"));
  auto const to = [&](std::string const& name) {
    return bench.schemac("--schema '" + bench.path("s.bfbs").string() + "' --output '" +
                         bench.path(name).string() + "'");
  };
  auto const done = to("no_such_folder/s.hpp");
  CHECK(done.exit_code == cannot_create);
  CHECK(done.complaint.find("no_such_folder/s.hpp: cannot be written") != std::string::npos);
  std::filesystem::create_directory(bench.path("taken.hpp"));
  CHECK(to("taken.hpp").exit_code == cannot_create);
  CHECK_FALSE(std::filesystem::exists(bench.path("taken.hpp.partial")));
}
