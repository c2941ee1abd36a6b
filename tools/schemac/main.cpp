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
#include <system_error>
#include <vector>

#include "runtime/service/json/struct_layout.hpp"
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

// Written beside the target and renamed, so that a build never sees half a header.
bool write_file(std::filesystem::path const& path, std::string const& text) {
  auto const partial = std::filesystem::path(path).concat(".partial");
  std::ofstream out(partial, std::ios::binary);
  out << text;
  out.close();
  std::error_code failed;
  if (out) {
    std::filesystem::rename(partial, path, failed);
    if (!failed) return true;
  }
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  return false;
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

  auto const bytes = read_file(schema);
  if (!bytes) return complain(rondo::exit_no_input, fmt::format("{}: cannot be read", schema.string()));
  try {
    // flatc names the binary schema after its source; the source is what the reader wants to hear about.
    auto const source = schema.filename().replace_extension(".fbs").string();
    auto const header = rondo::schemac::write_header(*bytes, source, includes);
    if (!write_file(output, header)) {
      return complain(rondo::exit_no_output, fmt::format("{}: cannot be written", output.string()));
    }
    if (!embedded.empty() && !write_file(embedded, rondo::schemac::embed_schema(*bytes, source))) {
      return complain(rondo::exit_no_output, fmt::format("{}: cannot be written", embedded.string()));
    }
  } catch (rondo::service::schema_error const& e) {
    return complain(rondo::exit_bad_data, e.what());
  }
  return rondo::exit_done;
}
