#include "runtime/schema/struct_layout.hpp"

#include <flatbuffers/reflection_generated.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

namespace rondo {
namespace {

// FlatBuffers' own accessors cast the byte to an enum that may not hold it.
int base_type_of(reflection::Type const& type) {
  auto const& table = reinterpret_cast<flatbuffers::Table const&>(type);
  return table.GetField<std::int8_t>(reflection::Type::VT_BASE_TYPE, 0);
}
int element_of(reflection::Type const& type) {
  auto const& table = reinterpret_cast<flatbuffers::Table const&>(type);
  return table.GetField<std::int8_t>(reflection::Type::VT_ELEMENT, 0);
}

std::optional<field_kind> kind_of(int type) {
  static_assert(reflection::Double - reflection::Bool == static_cast<int>(field_kind::float64));
  if (type == reflection::Obj) return field_kind::nested;
  if (type < reflection::Bool || type > reflection::Double) return std::nullopt;
  return static_cast<field_kind>(type - reflection::Bool);
}

bool is_integer(field_kind kind) { return kind >= field_kind::int8 && kind <= field_kind::uint64; }

bool is_identifier(std::string_view name) {
  auto const letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

bool is_type_name(std::string_view dotted) {
  for (std::size_t from = 0; from <= dotted.size();) {
    auto const to = std::min(dotted.find('.', from), dotted.size());
    if (!is_identifier(dotted.substr(from, to - from))) return false;
    from = to + 1;
  }
  return true;
}

class reader {
 public:
  reader(reflection::Schema const& schema, std::size_t schema_bytes, std::string_view source,
         layout_limits const& limits)
      : schema_(schema), source_(source), limits_(limits), left_(8 * schema_bytes) {}

  schema_layout read() {
    for (auto const* e : *schema_.enums())
      if (!e->is_union()) read_enum(*e);
    for (auto const* object : *schema_.objects()) {
      spend(1);
      if (object->is_struct())
        read_struct(*object, 1);
      else if (is_message(*object))
        read_.message_tables.push_back(checked_name(*object->name(), true, "a table"));
    }
    return std::move(read_);
  }

 private:
  [[noreturn]] void fail(std::string_view type, std::string_view reason) const {
    throw schema_error(fmt::format("{}: the schema is damaged: {}: {}", source_, type, reason));
  }
  [[noreturn]] void fail(std::string_view type, std::string_view field, std::string_view reason) const {
    fail(fmt::format("{}.{}", type, field), reason);
  }

  /// For a schema that may be sound, but needs more than the limits.
  template <class... Args>
  [[noreturn]] void exceed(std::string_view type, fmt::format_string<Args...> reason, Args&&... args) const {
    throw schema_error(
        fmt::format("{}: {}: {}", source_, type, fmt::format(reason, std::forward<Args>(args)...)));
  }

  // In a FlatBuffer many tables can share one name or list; what flatc writes shares only the names of source files. So
  // what is read is bounded by a multiple of what came.
  void spend(std::size_t bytes) {
    if (bytes > left_)
      throw schema_error(
          fmt::format("{}: the schema is damaged: it uses the same parts over and over", source_));
    left_ -= bytes;
  }

  std::string checked_name(flatbuffers::String const& given, bool dotted, std::string_view owner) {
    std::string_view const name(given.data(), given.size());
    if (!(dotted ? is_type_name(name) : is_identifier(name)))
      fail(owner, "has a name that is not an identifier");
    if (name.size() > limits_.name_bytes)
      exceed(owner, "has a name of more than {} bytes: {}...", limits_.name_bytes, name.substr(0, 40));
    spend(name.size());
    return std::string(name);
  }

  std::vector<std::string> docs_of(
      flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> const* lines) {
    std::vector<std::string> docs;
    if (lines == nullptr) return docs;
    for (auto const* line : *lines) {
      spend(sizeof(std::string) + line->size());
      docs.push_back(line->str());
    }
    return docs;
  }

  template <class Type>  // reflection::Object or Enum
  type_notes notes_of(Type const& type) {
    auto const* const file = type.declaration_file();
    if (file != nullptr) spend(file->size());
    return {file == nullptr ? std::string() : file->str(), docs_of(type.documentation())};
  }

  bool is_message(reflection::Object const& object) {
    if (object.attributes() == nullptr) return false;
    spend(object.attributes()->size());
    return std::ranges::any_of(*object.attributes(),
                               [](auto const* a) { return a->key()->string_view() == "message"; });
  }

  std::shared_ptr<struct_layout const> read_struct(reflection::Object const& object, std::uint32_t level) {
    if (auto const known = done_.find(&object); known != done_.end()) return known->second;
    auto out = std::make_shared<struct_layout>();
    out->name = checked_name(*object.name(), true, "a struct");
    if (!open_.insert(&object).second) fail(out->name, "contains itself");
    if (level > limits_.depth) exceed(out->name, "structs nest more than {} deep", limits_.depth);
    if (object.bytesize() <= 0 || object.minalign() <= 0 ||
        !std::has_single_bit(static_cast<std::uint32_t>(object.minalign())) ||
        object.bytesize() % object.minalign() != 0)
      fail(out->name, fmt::format("has {} bytes aligned to {}", object.bytesize(), object.minalign()));
    out->bytes = static_cast<std::uint32_t>(object.bytesize());
    out->align = static_cast<std::uint32_t>(object.minalign());
    out->is_message = is_message(object);
    out->notes = notes_of(object);
    if (object.fields()->size() == 0) fail(out->name, "has no field");
    if (object.fields()->size() > out->bytes) fail(out->name, "has more fields than bytes");
    for (auto const* field : *object.fields()) {
      out->fields.push_back(read_field(*out, *field, level));
      if (out->fields.back().nested) out->depth = std::max(out->depth, out->fields.back().nested->depth + 1);
      if (out->depth > limits_.depth) exceed(out->name, "structs nest more than {} deep", limits_.depth);
    }
    check_places(*out);
    if (!names_.insert(out->name).second) fail(out->name, "is declared twice");
    open_.erase(&object);
    done_.emplace(&object, out);
    read_.structs.push_back(out);
    return out;
  }

  field_layout read_field(struct_layout const& owner, reflection::Field const& field, std::uint32_t level) {
    spend(sizeof(field_layout));
    field_layout out;
    out.name = checked_name(*field.name(), false, owner.name);
    auto const& type = *field.type();
    bool const is_array = base_type_of(type) == reflection::Array;
    auto const kind = kind_of(is_array ? element_of(type) : base_type_of(type));
    if (!kind) fail(owner.name, out.name, "has no fixed size");
    out.kind = *kind;
    out.offset = field.offset();
    out.docs = docs_of(field.documentation());
    if (is_array) out.length = type.fixed_length();
    if (is_array && out.length == 0) fail(owner.name, out.name, "is an array of no elements");
    std::uint32_t align = 0;
    if (out.kind == field_kind::nested) {
      auto const index = type.index();
      if (index < 0 || static_cast<flatbuffers::uoffset_t>(index) >= schema_.objects()->size())
        fail(owner.name, out.name, "has a type that is not there");
      auto const& inner = *schema_.objects()->Get(static_cast<flatbuffers::uoffset_t>(index));
      if (!inner.is_struct()) fail(owner.name, out.name, "is a table; it has no fixed size");
      out.nested = read_struct(inner, level + 1);
      out.element_bytes = out.nested->bytes;
      align = out.nested->align;
    } else {
      out.element_bytes = align = static_cast<std::uint32_t>(bytes_of(out.kind));
      if (type.index() >= 0) out.choices = enum_at(owner, out, type.index());
    }
    if (out.offset % align != 0 || align > owner.align) fail(owner.name, out.name, "is misaligned");
    return out;
  }

  std::shared_ptr<enum_layout const> enum_at(struct_layout const& owner, field_layout const& field,
                                             std::int32_t index) {
    if (static_cast<flatbuffers::uoffset_t>(index) >= schema_.enums()->size())
      fail(owner.name, field.name, "has an enum that is not there");
    auto const& e = *schema_.enums()->Get(static_cast<flatbuffers::uoffset_t>(index));
    auto const out = e.is_union() ? nullptr : read_enum(e);
    if (!out || out->kind != field.kind) fail(owner.name, field.name, "does not have the type of its enum");
    return out;
  }

  std::shared_ptr<enum_layout const> read_enum(reflection::Enum const& e) {
    if (auto const known = enums_.find(&e); known != enums_.end()) return known->second;
    auto out = std::make_shared<enum_layout>();
    out->name = checked_name(*e.name(), true, "an enum");
    auto const kind = kind_of(base_type_of(*e.underlying_type()));
    if (!kind || !is_integer(*kind)) fail(out->name, "is an enum without an integer type");
    out->kind = *kind;
    out->notes = notes_of(e);
    std::set<std::string> names;
    for (auto const* value : *e.values()) {
      spend(sizeof(enum_entry));
      out->entries.push_back({checked_name(*value->name(), false, out->name),
                              static_cast<std::uint64_t>(value->value()), docs_of(value->documentation())});
      if (!names.insert(out->entries.back().name).second)
        fail(out->name, out->entries.back().name, "is given twice");
      if (!fits(value->value(), *kind)) fail(out->name, out->entries.back().name, "is out of range");
    }
    if (!names_.insert(out->name).second) fail(out->name, "is declared twice");
    enums_.emplace(&e, out);
    read_.enums.push_back(out);
    return out;
  }

  static bool fits(std::int64_t value, field_kind kind) {
    if (kind == field_kind::int64 || kind == field_kind::uint64) return true;  // all 64 bits
    auto const bits = 8 * bytes_of(kind);
    auto const low = is_signed(kind) ? -(std::int64_t{1} << (bits - 1)) : 0;
    auto const high = (std::int64_t{1} << (is_signed(kind) ? bits - 1 : bits)) - 1;
    return value >= low && value <= high;
  }

  void check_places(struct_layout& s) const {
    std::ranges::sort(s.fields, {}, &field_layout::offset);
    std::set<std::string_view> names;
    std::uint64_t end = 0;
    for (auto const& f : s.fields) {
      if (!names.insert(f.name).second) fail(s.name, f.name, "is declared twice");
      if (f.offset < end) fail(s.name, f.name, "overlaps the field before it");
      end = f.offset + std::uint64_t{f.element_bytes} * f.count();
      if (end > s.bytes) fail(s.name, f.name, "reaches beyond its struct");
    }
    if (s.fields.front().offset != 0) fail(s.name, "has a gap before its first field");
  }

  reflection::Schema const& schema_;
  std::string_view source_;
  layout_limits limits_;
  std::size_t left_;
  schema_layout read_;
  std::set<std::string> names_;  // of types
  std::set<reflection::Object const*>
      open_;  // structs that are being read: those that contain the current one
  std::map<reflection::Object const*, std::shared_ptr<struct_layout const>> done_;
  std::map<reflection::Enum const*, std::shared_ptr<enum_layout const>> enums_;
};

}  // namespace

std::string_view name_of(field_kind kind) noexcept {
  static constexpr std::string_view names[] = {"bool", "byte", "ubyte", "short", "ushort", "int",
                                               "uint", "long", "ulong", "float", "double", "struct"};
  return names[static_cast<std::size_t>(kind)];
}

bool is_signed(field_kind kind) noexcept {
  return kind == field_kind::int8 || kind == field_kind::int16 || kind == field_kind::int32 ||
         kind == field_kind::int64;
}

std::size_t bytes_of(field_kind kind) noexcept {
  static constexpr std::uint8_t bytes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0};
  return bytes[static_cast<std::size_t>(kind)];
}

std::string names_of(enum_layout const& e, std::string_view between) {
  constexpr std::size_t shown = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, e.entries.size()); ++i)
    text.append(i == 0 ? "" : between).append(e.entries[i].name);
  return e.entries.size() > shown ? text.append(between).append("...") : text;
}

static std::string_view last_part(std::string_view dotted) noexcept {
  return dotted.substr(dotted.rfind('.') + 1);  // npos + 1 is 0
}

std::string_view enum_layout::short_name() const noexcept { return last_part(name); }
std::string_view struct_layout::short_name() const noexcept { return last_part(name); }

static bool same_enum(enum_layout const& a, enum_layout const& b) {
  return a.name == b.name && std::ranges::equal(a.entries, b.entries, [](auto const& x, auto const& y) {
           return x.name == y.name && x.bits == y.bits;
         });
}

bool same_layout(struct_layout const& a, struct_layout const& b) {
  auto const same_field = [](field_layout const& f, field_layout const& g) {
    return f.name == g.name && f.kind == g.kind && f.offset == g.offset && f.length == g.length &&
           !f.choices == !g.choices && (!f.choices || same_enum(*f.choices, *g.choices)) &&
           !f.nested == !g.nested && (!f.nested || same_layout(*f.nested, *g.nested));
  };
  return a.name == b.name && a.bytes == b.bytes && a.align == b.align &&
         std::ranges::equal(a.fields, b.fields, same_field);
}

schema_layout read_layouts(std::span<std::byte const> binary_schema, std::string_view source,
                           layout_limits const& limits) {
  auto const refuse = [&](std::string_view reason) {
    throw schema_error(fmt::format("{}: {}", source, reason));
  };
  constexpr std::size_t smallest = sizeof(flatbuffers::uoffset_t) + flatbuffers::kFileIdentifierLength;
  if (binary_schema.size() > limits.schema_bytes)
    refuse(fmt::format("the binary schema has more than {} KiB", limits.schema_bytes >> 10));
  // Copied, since the verifier takes the buffer's start for aligned.
  auto const* const begin = reinterpret_cast<std::uint8_t const*>(binary_schema.data());
  std::vector<std::uint8_t> const bytes(begin, begin + binary_schema.size());
  if (bytes.size() < smallest || !reflection::SchemaBufferHasIdentifier(bytes.data()))
    refuse("is not a binary schema; make one with flatc --binary --schema --bfbs-comments");
  // Tables may share parts, and each use is verified again; so their number is bounded by what flatc could write.
  auto const tables = static_cast<flatbuffers::uoffset_t>(bytes.size() / 8);
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 16, tables);
  if (!reflection::VerifySchemaBuffer(verifier))
    refuse(
        "the binary schema is damaged: it is not a valid FlatBuffer; make it again with flatc --binary "
        "--schema "
        "--bfbs-comments");
  return reader(*reflection::GetSchema(bytes.data()), bytes.size(), source, limits).read();
}

}  // namespace rondo
