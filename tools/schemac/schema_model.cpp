#include "tools/schemac/schema_model.hpp"

#include <flatbuffers/reflection_generated.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <set>
#include <string_view>

#include "tools/schemac/names.hpp"
#include "tools/schemac/spelling.hpp"

namespace rondo::schemac {
namespace {

class reader {
 public:
  reader(reflection::Schema const& schema, std::string const& source) : schema_(schema) {
    model_.source = source;
  }

  schema_model read() {
    refuse_message_tables();
    for (auto const* e : *schema_.enums()) {
      if (declared_here(e->declaration_file()) && !e->is_union()) read_enum(*e);
    }
    for (auto const* object : *schema_.objects()) {
      if (declared_here(object->declaration_file()) && object->is_struct()) read_struct(*object);
    }
    if (model_.structs.empty()) fail("declares no struct; a message is a FlatBuffers struct, not a table");
    model_.includes.assign(includes_.begin(), includes_.end());
    return std::move(model_);
  }

 private:
  [[noreturn]] void fail(std::string_view reason) const {
    throw schema_error(fmt::format("{}: {}", model_.source, reason));
  }
  [[noreturn]] void fail(std::string_view type, std::string_view reason) const {
    throw schema_error(fmt::format("{}: {}: {}", model_.source, type, reason));
  }
  [[noreturn]] void fail(std::string_view type, std::string_view field, std::string_view reason) const {
    throw schema_error(fmt::format("{}: {}.{}: {}", model_.source, type, field, reason));
  }

  static bool is_message(reflection::Object const& object) {
    if (object.attributes() == nullptr) return false;
    return std::ranges::any_of(*object.attributes(), [](reflection::KeyValue const* attribute) {
      return attribute->key()->string_view() == "message";
    });
  }

  // Schemas of flatc before 2.0.6 do not say where a type was declared: then everything is taken as declared
  // here.
  bool declared_here(flatbuffers::String const* file) const {
    return file == nullptr || std::filesystem::path(file->str()).filename() == model_.source;
  }

  void note_include(flatbuffers::String const* file) {
    if (!declared_here(file)) includes_.insert(std::filesystem::path(file->str()).stem().string());
  }

  void refuse_message_tables() const {
    for (auto const* object : *schema_.objects()) {
      if (!object->is_struct() && is_message(*object)) {
        fail(object->name()->string_view(),
             "is a table with (message); a message has a fixed layout: make it a struct");
      }
    }
  }

  void check_type_name(std::string_view dotted) const {
    for (std::size_t from = 0; from <= dotted.size();) {
      std::size_t const to = std::min(dotted.find('.', from), dotted.size());
      auto const part = dotted.substr(from, to - from);
      if (auto const why = refuse_name(part); !why.empty())
        fail(dotted, fmt::format("the name '{}' {}", part, why));
      from = to + 1;
    }
  }

  void read_enum(reflection::Enum const& e) {
    auto const name = e.name()->string_view();
    check_type_name(name);
    auto const underlying = scalar_of(e.underlying_type()->base_type());
    if (underlying.name.empty() || underlying.name == "float" || underlying.name == "double") {
      fail(name, "the schema is damaged: an enum without an integer type");
    }
    enum_type out{
        .name = e.name()->str(), .underlying = std::string(underlying.name), .values = {}, .docs = {}};
    out.docs = docs_of(e.documentation());
    for (auto const* value : *e.values()) {
      if (auto const why = refuse_name(value->name()->string_view()); !why.empty()) {
        fail(name, value->name()->string_view(), why);
      }
      out.values.push_back({value->name()->str(),
                            literal_of(value->value(), e.underlying_type()->base_type()),
                            docs_of(value->documentation())});
    }
    model_.enums.push_back(std::move(out));
  }

  // Structs first that others contain: C++ wants them declared before. FlatBuffers refuses cycles, a damaged
  // schema may still have one.
  void read_struct(reflection::Object const& object) {
    auto const name = object.name()->str();
    if (done_.contains(name)) return;
    if (!open_.insert(name).second) fail(name, "the schema is damaged: the struct contains itself");
    check_type_name(name);

    struct_type out{.name = name,
                    .is_message = is_message(object),
                    .fields = {},
                    .docs = docs_of(object.documentation())};
    std::vector<reflection::Field const*> fields(object.fields()->begin(), object.fields()->end());
    std::ranges::sort(fields, {}, &reflection::Field::offset);
    std::size_t natural_align = 1;
    for (auto const* field : fields) {
      out.fields.push_back(read_field(name, *field, natural_align));
    }
    if (object.bytesize() <= 0 || object.minalign() <= 0)
      fail(name, "the schema is damaged: a struct without a size");
    out.bytes = static_cast<std::size_t>(object.bytesize());
    out.align = static_cast<std::size_t>(object.minalign());
    out.over_aligned = out.align > natural_align;
    lay_out(out, natural_align);
    check_message(out);
    done_.insert(name);
    model_.structs.push_back(std::move(out));
  }

  struct_field read_field(std::string const& owner, reflection::Field const& field,
                          std::size_t& natural_align) {
    auto const name = field.name()->string_view();
    if (auto const why = refuse_name(name); !why.empty()) fail(owner, name, why);
    struct_field out{.name = field.name()->str(), .type = {}, .offset = field.offset(), .docs = {}};
    out.docs = docs_of(field.documentation());

    auto const& type = *field.type();
    bool const is_array = type.base_type() == reflection::Array;
    auto const base = is_array ? type.element() : type.base_type();
    out.length = is_array ? type.fixed_length() : 0;
    if (is_array && out.length == 0) fail(owner, name, "the schema is damaged: an array of no elements");

    std::size_t align = 0;
    if (base == reflection::Obj) {
      auto const& inner = object_at(owner, name, type.index());
      if (!inner.is_struct()) {
        fail(owner, name,
             fmt::format("is the table {}; a struct holds scalars, enums, arrays and structs only",
                         inner.name()->string_view()));
      }
      if (declared_here(inner.declaration_file())) read_struct(inner);
      note_include(inner.declaration_file());
      check_type_name(inner.name()->string_view());
      out.type = global_name(inner.name()->string_view());
      out.bytes = static_cast<std::size_t>(std::max(inner.bytesize(), 0));
      align = static_cast<std::size_t>(std::max(inner.minalign(), 0));
    } else if (auto const plain = scalar_of(base); !plain.name.empty()) {
      out.type = type.index() < 0 ? std::string(plain.name) : enum_name(owner, name, type.index());
      out.bytes = align = plain.bytes;
    } else {
      fail(owner, name,
           fmt::format("has the type {}; a struct holds scalars, enums, arrays and structs only: "
                       "send larger data as a buffer handle",
                       reflection::EnumNameBaseType(base)));
    }
    if (is_array) out.bytes *= out.length;
    natural_align = std::max(natural_align, align);
    if (align == 0 || out.offset % align != 0)
      fail(owner, name, "the schema is damaged: the field is misaligned");
    return out;
  }

  reflection::Object const& object_at(std::string_view owner, std::string_view field,
                                      std::int32_t index) const {
    if (index < 0 || static_cast<std::size_t>(index) >= schema_.objects()->size()) {
      fail(owner, field, "the schema is damaged: the type's index is out of range");
    }
    return *schema_.objects()->Get(static_cast<flatbuffers::uoffset_t>(index));
  }

  std::string enum_name(std::string_view owner, std::string_view field, std::int32_t index) {
    if (static_cast<std::size_t>(index) >= schema_.enums()->size()) {
      fail(owner, field, "the schema is damaged: the enum's index is out of range");
    }
    auto const& e = *schema_.enums()->Get(static_cast<flatbuffers::uoffset_t>(index));
    if (e.is_union())
      fail(owner, field, "is a union; a struct holds scalars, enums, arrays and structs only");
    check_type_name(e.name()->string_view());
    note_include(e.declaration_file());
    return global_name(e.name()->string_view());
  }

  // Turns the gaps between fields into padding, and refuses fields that overlap or leave the struct.
  void lay_out(struct_type& s, std::size_t natural_align) const {
    if (s.fields.empty()) fail(s.name, "the schema is damaged: a struct without fields");
    if (!std::has_single_bit(s.align) || s.align < natural_align || s.bytes % s.align != 0) {
      fail(s.name, fmt::format("the schema is damaged: {} bytes aligned to {}", s.bytes, s.align));
    }
    if (s.fields.front().offset != 0)
      fail(s.name, "the schema is damaged: the first field is not at offset 0");
    for (std::size_t i = 0; i < s.fields.size(); ++i) {
      auto& field = s.fields[i];
      std::size_t const end = field.offset + field.bytes;
      std::size_t const next = i + 1 < s.fields.size() ? s.fields[i + 1].offset : s.bytes;
      if (end > next) fail(s.name, field.name, "the schema is damaged: the field reaches into the next one");
      field.padding_after = next - end;
    }
  }

  void check_message(struct_type const& s) const {
    if (!s.is_message) return;
    if (s.bytes > message_limit_bytes) {
      auto const over = std::ranges::find_if(
          s.fields, [](struct_field const& f) { return f.offset + f.bytes > message_limit_bytes; });
      auto const& field = over == s.fields.end() ? s.fields.back() : *over;
      fail(s.name, field.name,
           fmt::format("the message has {} bytes, {} is the limit, and this field crosses it: "
                       "send larger data as a buffer handle",
                       s.bytes, message_limit_bytes));
    }
    if (s.align > message_limit_align) {
      fail(s.name,
           fmt::format("the message is aligned to {} bytes, {} is the limit", s.align, message_limit_align));
    }
  }

  reflection::Schema const& schema_;
  schema_model model_;
  std::set<std::string> includes_;
  std::set<std::string> done_;
  std::set<std::string> open_;
};

}  // namespace

schema_model read_schema(std::span<std::uint8_t const> bytes, std::string const& source) {
  auto const refuse = [&](std::string_view reason) {
    throw schema_error(fmt::format("{}: {}", source, reason));
  };
  constexpr std::size_t smallest = sizeof(flatbuffers::uoffset_t) + flatbuffers::kFileIdentifierLength;
  if (bytes.size() < smallest || !reflection::SchemaBufferHasIdentifier(bytes.data())) {
    refuse("is not a binary schema; make one with flatc --binary --schema --bfbs-comments");
  }
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  if (!reflection::VerifySchemaBuffer(verifier)) {
    refuse("the binary schema is damaged; make it again with flatc --binary --schema --bfbs-comments");
  }
  return reader(*reflection::GetSchema(bytes.data()), source).read();
}

}  // namespace rondo::schemac
