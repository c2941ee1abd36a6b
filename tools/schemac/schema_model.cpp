#include "tools/schemac/schema_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "tools/schemac/names.hpp"
#include "tools/schemac/spelling.hpp"

namespace rondo::schemac {
namespace {

/// Turns layouts, which are sound, into C++: checks what C++ and messages ask for beyond that.
class modeller {
 public:
  modeller(service::schema_layout const& schema, std::string const& source) : schema_(schema) {
    model_.source = source;
  }

  schema_model model() {
    for (auto const& table : schema_.message_tables)
      fail(table, "is a table with (message); a message has a fixed layout: make it a struct");
    for (auto const& e : schema_.enums)
      if (declared_here(e->notes)) add_enum(*e);
    for (auto const& s : schema_.structs)
      if (declared_here(s->notes)) add_struct(*s);
    if (model_.structs.empty())
      throw schema_error(fmt::format("{}: declares no struct; a message is a FlatBuffers struct, not a table",
                                     model_.source));
    model_.includes.assign(includes_.begin(), includes_.end());
    return std::move(model_);
  }

 private:
  [[noreturn]] void fail(std::string_view type, std::string_view reason) const {
    throw schema_error(fmt::format("{}: {}: {}", model_.source, type, reason));
  }
  [[noreturn]] void fail(std::string_view type, std::string_view field, std::string_view reason) const {
    throw schema_error(fmt::format("{}: {}.{}: {}", model_.source, type, field, reason));
  }

  // Schemas of flatc before 2.0.6 do not say where a type was declared: then everything is taken as declared
  // here.
  bool declared_here(service::type_notes const& notes) const {
    return notes.declared_in.empty() || std::filesystem::path(notes.declared_in).filename() == model_.source;
  }

  /// The type's C++ name in a field; its header is included where it is another's.
  std::string use(std::string const& name, service::type_notes const& notes) {
    check_type_name(name);
    if (!declared_here(notes)) includes_.insert(std::filesystem::path(notes.declared_in).stem().string());
    return global_name(name);
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

  void add_enum(service::enum_layout const& e) {
    check_type_name(e.name);
    enum_type out{.name = e.name,
                  .underlying = std::string(scalar_name(e.kind)),
                  .values = {},
                  .docs = comment_lines(e.notes.docs)};
    for (auto const& value : e.entries) {
      if (auto const why = refuse_name(value.name); !why.empty()) fail(e.name, value.name, why);
      out.values.push_back({value.name, literal_of(value.bits, e.kind), comment_lines(value.docs)});
    }
    model_.enums.push_back(std::move(out));
  }

  void add_struct(service::struct_layout const& s) {
    check_type_name(s.name);
    struct_type out{.name = s.name,
                    .bytes = s.bytes,
                    .align = s.align,
                    .is_message = s.is_message,
                    .fields = {},
                    .docs = comment_lines(s.notes.docs)};
    std::size_t natural_align = 1;
    for (std::size_t i = 0; i < s.fields.size(); ++i) {
      auto const& f = s.fields[i];
      if (auto const why = refuse_name(f.name); !why.empty()) fail(s.name, f.name, why);
      auto const bytes = std::size_t{f.element_bytes} * f.count();
      auto const next = i + 1 < s.fields.size() ? s.fields[i + 1].offset : s.bytes;
      natural_align = std::max<std::size_t>(natural_align, f.nested ? f.nested->align : f.element_bytes);
      out.fields.push_back({.name = f.name,
                            .type = f.nested    ? use(f.nested->name, f.nested->notes)
                                    : f.choices ? use(f.choices->name, f.choices->notes)
                                                : std::string(scalar_name(f.kind)),
                            .offset = f.offset,
                            .bytes = bytes,
                            .length = f.length,
                            .padding_after = next - f.offset - bytes,
                            .docs = comment_lines(f.docs)});
    }
    out.over_aligned = out.align > natural_align;
    check_message(out);
    model_.structs.push_back(std::move(out));
  }

  void check_message(struct_type const& s) const {
    if (!s.is_message) return;
    if (s.bytes > max_payload_bytes) {
      auto const over = std::ranges::find_if(
          s.fields, [](struct_field const& f) { return f.offset + f.bytes > max_payload_bytes; });
      auto const& field = over == s.fields.end() ? s.fields.back() : *over;
      fail(s.name, field.name,
           fmt::format("the message has {} bytes, {} is the limit, and this field crosses it: "
                       "send larger data as a buffer handle",
                       s.bytes, max_payload_bytes));
    }
    if (s.align > alignof(message))
      fail(s.name,
           fmt::format("the message is aligned to {} bytes, {} is the limit", s.align, alignof(message)));
  }

  service::schema_layout const& schema_;
  schema_model model_;
  std::set<std::string> includes_;
};

}  // namespace

schema_model read_schema(std::span<std::uint8_t const> bytes, std::string const& source) {
  // The developer's own schema: what a struct may be is up to C++.
  constexpr service::layout_limits wide{
      .schema_bytes = std::size_t{64} << 20, .depth = 64, .name_bytes = 4096};
  auto const schema = service::read_layouts(std::as_bytes(bytes), source, wide);
  return modeller(schema, source).model();
}

}  // namespace rondo::schemac
