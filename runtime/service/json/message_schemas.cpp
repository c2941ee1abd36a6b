#include "runtime/service/json/message_schemas.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

#include "runtime/service/json/payload_json.hpp"
#include "runtime/service/json/qualified_names.hpp"
#include "runtime/text/json_node.hpp"

namespace rondo::service {
namespace {

void describe_struct(std::string& text, struct_layout const& s);

void describe_field(std::string& text, field_layout const& f) {
  text += f.name + ": ";
  if (f.length != 0) text += '[';
  if (f.nested) {
    describe_struct(text, *f.nested);
  } else if (f.choices) {
    text += fmt::format("{}({})", f.choices->short_name(), names_of(*f.choices, "|"));
  } else {
    text += name_of(f.kind);
  }
  if (f.length != 0) fmt::format_to(std::back_inserter(text), ":{}]", f.length);
}

void describe_struct(std::string& text, struct_layout const& s) {
  text += s.short_name();
  text += " {";
  for (auto const& f : s.fields) {
    if (&f != &s.fields.front()) text += ", ";
    describe_field(text, f);
  }
  text += '}';
}

[[noreturn]] void refuse_hex(std::string_view reason) {
  throw payload_error(
      fmt::format("payload: {}; a type without a schema is written as {{\"hex\": \"0a1b\"}}", reason));
}

}  // namespace

void message_schemas::add(std::span<std::byte const> binary_schema, std::string_view source) {
  auto types = types_;
  for (auto& type : read_layouts(binary_schema, source).structs) {
    if (!type->is_payload()) continue;
    auto const [known, is_new] = types.try_emplace(type->name, type);
    if (!is_new && !same_layout(*known->second, *type))
      throw schema_error(fmt::format(
          "{}: {}: has other fields than in a schema that was read before; build both sides from one "
          "schema",
          source, type->name));
  }
  types_ = std::move(types);
}

bool message_schemas::knows(std::string_view type) const {
  if (types_.contains(type)) return true;
  std::size_t called = 0;
  for (auto const& [name, layout] : types_) called += is_called(name, type, ".");
  return called == 1;
}

std::vector<std::string_view> message_schemas::names() const {
  std::vector<std::string_view> all;
  for (auto const& [name, layout] : types_) all.push_back(name);
  return all;
}

struct_layout const& message_schemas::find(std::string_view type) const {
  if (auto const exact = types_.find(type); exact != types_.end()) return *exact->second;
  struct_layout const* found = nullptr;
  for (auto const& [name, layout] : types_) {
    if (!is_called(name, type, ".")) continue;
    if (found != nullptr)
      throw payload_error(fmt::format("'{}' may be {} or {}; give the whole name", type, found->name, name));
    found = layout.get();
  }
  if (found == nullptr)
    throw payload_error(fmt::format(
        "'{}' is not a message of a known schema; {}", type,
        types_.empty() ? "no schema is known" : fmt::format("known are {}", fmt::join(names(), ", "))));
  return *found;
}

std::vector<std::byte> message_schemas::to_bytes(std::string_view type, std::string_view json) const {
  return payload_from_json(find(type), json);
}

std::string message_schemas::to_json(std::string_view type, std::span<std::byte const> bytes) const {
  auto const& layout = find(type);
  if (bytes.size() != layout.bytes)
    throw payload_error(
        fmt::format("payload of {}: has {} bytes; the type has {}", layout.name, bytes.size(), layout.bytes));
  return payload_to_json(layout, bytes);
}

std::string message_schemas::describe(std::string_view type) const {
  std::string text;
  describe_struct(text, find(type));
  return text;
}

std::vector<std::byte> bytes_from_hex(std::string_view json) {
  json_node root;
  try {
    root = parse_json_node(json);
  } catch (json_error const& e) {
    refuse_hex(e.what());
  }
  if (root.what != json_node::kind::object) refuse_hex("is " + root.described());
  if (root.names.size() != 1 || root.names.front() != "hex") refuse_hex("has other fields than hex");
  auto const& digits = root.entries.front();
  if (digits.what != json_node::kind::string) refuse_hex("hex: is " + digits.described());
  if (digits.text.size() % 2 != 0) refuse_hex("hex: has an odd number of digits");
  std::vector<std::byte> bytes(digits.text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned value = 0;
    auto const* const begin = digits.text.data() + 2 * i;
    auto const [stop, failed] = std::from_chars(begin, begin + 2, value, 16);
    if (failed != std::errc() || stop != begin + 2)
      refuse_hex(fmt::format("hex: its digits {} and {} are no hexadecimal digits", 2 * i + 1, 2 * i + 2));
    bytes[i] = static_cast<std::byte>(value);
  }
  return bytes;
}

std::string bytes_to_hex(std::span<std::byte const> bytes) {
  std::string text = "{\"hex\":\"";
  for (auto const b : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", std::to_integer<unsigned>(b));
  return text += "\"}";
}

}  // namespace rondo::service
