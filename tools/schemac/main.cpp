// rondo-schemac: reads a binary FlatBuffers schema, writes its structs as a plain C++ header, and if asked another
// header that holds the schema itself.
//
// Exit codes follow sysexits.h: 64 bad options, 65 refused schema, 66 unreadable schema, 73 unwritable
// output.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "runtime/files/file_uses.hpp"
#include "runtime/files/part_file.hpp"
#include "runtime/schema/struct_layout.hpp"
#include "runtime/text/to_stderr.hpp"
#include "tools/commands/exit_codes.hpp"
#include "tools/schemac/embed.hpp"
#include "tools/schemac/header_writer.hpp"

namespace {

std::optional<std::vector<std::uint8_t>> read_file(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) return std::nullopt;
  std::vector<std::uint8_t> bytes(std::istreambuf_iterator<char>(in), {});
  if (in.bad()) return std::nullopt;
  return bytes;
}

int complain(rondo::exit_code code, std::string const& text) {
  rondo::to_stderr(fmt::format("rondo-schemac: {}\n", text));
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes the structs of a binary FlatBuffers schema as a plain C++ header.", "rondo-schemac");
  std::filesystem::path schema;
  std::filesystem::path output;
  std::filesystem::path embedded;
  std::vector<std::string> includes;
  app.add_option("--schema", schema, "binary schema, from flatc --binary --schema --bfbs-comments")
      ->required();
  app.add_option("--output", output, "header to write")->required();
  app.add_option("--embed", embedded, "header to write with the bytes of the schema");
  app.add_option("--include", includes, "header to include in the one written; may be given more than once");
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return app.exit(e) == 0 ? rondo::exit_done : rondo::exit_usage;
  }

  rondo::file_uses uses;
  uses.reads("--schema", schema.string());
  uses.writes("--output", output.string());
  uses.writes("--embed", embedded.string());
  if (auto const why = uses.conflict(); !why.empty()) return complain(rondo::exit_usage, why);
  auto const bytes = read_file(schema);
  if (!bytes) return complain(rondo::exit_no_input, fmt::format("{}: cannot be read", schema.string()));
  try {
    // flatc names the binary schema after its source; the source is what the reader wants to hear about.
    auto const source = schema.filename().replace_extension(".fbs").string();
    auto const header = rondo::schemac::write_header(*bytes, source, includes);
    // As a whole, so that a build never sees half a header.
    rondo::write_output(output.string(), header);
    if (!embedded.empty())
      rondo::write_output(embedded.string(), rondo::schemac::embed_schema(*bytes, source));
  } catch (rondo::schema_error const& e) {
    return complain(rondo::exit_bad_data, e.what());
  } catch (std::runtime_error const& e) {
    return complain(rondo::exit_no_output, e.what());
  }
  return rondo::exit_done;
}
