#include "tools/schemac/embed.hpp"

#include <fmt/format.h>

#include <iterator>

namespace rondo::schemac {
namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool is_latin(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// `my-messages.fbs` becomes `my_messages`.
std::string identifier_of(std::string_view source) {
  std::string name;
  for (char const c : source.substr(0, source.rfind('.'))) name += is_latin(c) || is_decimal(c) ? c : '_';
  if (name.empty() || is_decimal(name.front())) name.insert(0, 1, '_');
  return name;
}

/// A string literal is read many times faster than a list of numbers. Three octal digits never run into what follows;
/// a question mark might begin a trigraph.
void append_byte(std::string& text, std::uint8_t byte) {
  bool const plain = byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\' && byte != '?';
  if (plain)
    text += static_cast<char>(byte);
  else
    fmt::format_to(std::back_inserter(text), "\\{:03o}", byte);
}

}  // namespace

std::string embed_schema(std::span<std::uint8_t const> bytes, std::string_view source) {
  constexpr std::size_t widest = 100;
  std::string literal, line;
  for (auto const byte : bytes) {
    append_byte(line, byte);
    if (line.size() < widest) continue;
    literal += "\n    \"" + line + '"';
    line.clear();
  }
  if (!line.empty() || literal.empty()) literal += "\n    \"" + line + '"';
  auto const name = identifier_of(source);
  return fmt::format(
      "// The binary schema of {0}, written by rondo-schemac: edit the schema, not this file.\n"
      "#pragma once\n"
      "\n"
      "#include <cstddef>\n"
      "#include <span>\n"
      "\n"
      "namespace rondo::generated {{\n"
      "\n"
      "// FlatBuffers reads it in place, hence the alignment.\n"
      "alignas(16) inline constexpr char {1}_schema_text[] ={2};\n"
      "\n"
      "/// What flatc --binary --schema makes of {0}: it lives as long as the program.\n"
      "inline std::span<std::byte const> {1}_schema() noexcept {{\n"
      "  return std::as_bytes(std::span({1}_schema_text, {3}));\n"
      "}}\n"
      "\n"
      "}}  // namespace rondo::generated\n",
      source, name, literal, bytes.size());
}

}  // namespace rondo::schemac
