#include "tools/schemac/header_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "runtime/schema/struct_layout.hpp"
#include "tools/schemac/names.hpp"

namespace rondo::schemac {
namespace {

/// A scalar's type in C++.
std::string_view scalar_name(field_kind kind) {
  static constexpr std::string_view names[] = {
      "bool",          "std::int8_t",  "std::uint8_t",  "std::int16_t", "std::uint16_t", "std::int32_t",
      "std::uint32_t", "std::int64_t", "std::uint64_t", "float",        "double"};
  return names[static_cast<std::size_t>(kind)];
}

/// `a.b.c` as `a::b::c`.
std::string joined_name(std::string_view dotted) {
  std::string name;
  for (char const c : dotted) name += c == '.' ? std::string("::") : std::string(1, c);
  return name;
}

/// The value of an enumerator, as an expression of the enum's underlying type.
std::string literal_of(std::uint64_t bits, field_kind underlying) {
  if (underlying == field_kind::uint64) return fmt::format("{}u", bits);
  auto const value = static_cast<std::int64_t>(bits);
  // C++ has no negative literals: the lowest value must be an expression.
  if (value == std::numeric_limits<std::int64_t>::min()) return fmt::format("{} - 1", value + 1);
  return fmt::format("{}", value);
}

/// Prints layouts, which are sound; checks what C++ and messages ask for beyond that.
class writer {
 public:
  writer(schema_layout const& schema, std::string_view source) : schema_(schema), source_(source) {}

  std::string write(std::span<std::string const> extra_includes) {
    for (auto const& table : schema_.message_tables)
      fail(table, "is a table with (message); a message has a fixed layout: make it a struct");
    for (auto const& e : schema_.enums)
      if (declared_here(e->notes)) print_enum(*e);
    std::vector<struct_layout const*> structs;
    for (auto const& s : schema_.structs)
      if (declared_here(s->notes)) structs.push_back(s.get());
    for (auto const* s : structs) print_struct(*s);
    if (structs.empty())
      throw schema_error(
          fmt::format("{}: declares no struct; a message is a FlatBuffers struct, not a table", source_));
    enter_namespace("");
    for (auto const* s : structs)
      if (s->is_message) print_name(*s);
    auto const types = std::exchange(text_, {});
    prologue(extra_includes);  // by now it is known which headers the types need
    return text_ + types;
  }

 private:
  [[noreturn]] void fail(std::string_view type, std::string_view reason) const {
    throw schema_error(fmt::format("{}: {}: {}", source_, type, reason));
  }
  [[noreturn]] void fail(std::string_view type, std::string_view field, std::string_view reason) const {
    fail(fmt::format("{}.{}", type, field), reason);
  }

  // Schemas of flatc before 2.0.6 do not say where a type was declared: then everything is taken as declared
  // here.
  bool declared_here(type_notes const& notes) const {
    return notes.declared_in.empty() || std::filesystem::path(notes.declared_in).filename() == source_;
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

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void prologue(std::span<std::string const> extra_includes) {
    line("// Messages of {}, written by rondo-schemac: edit the schema, not this file.", source_);
    line("#pragma once");
    line("");
    line("#include <cstddef>");
    line("#include <cstdint>");
    line("#include <type_traits>");
    line("");
    for (auto const& path : extra_includes) line("#include \"{}\"", path);
    for (auto const& stem : includes_) line("#include \"generated/{}_messages.hpp\"", stem);
    line("#include \"kernels/base/message.hpp\"");
  }

  void docs(std::span<std::string const> lines, std::string_view indent) {
    for (auto text : lines) {
      std::ranges::replace_if(
          text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
      // A comment line that ends in a backslash would swallow the line after it.
      text.erase(text.find_last_not_of("\\ \t") + 1);
      line("{}///{}", indent, text);
    }
  }

  // Opens and closes namespaces as types ask for them. Returns the type's own name.
  std::string_view enter(std::string_view dotted) {
    check_type_name(dotted);
    auto const last = dotted.rfind('.');
    enter_namespace(last == std::string_view::npos ? "" : joined_name(dotted.substr(0, last)));
    line("");
    return last == std::string_view::npos ? dotted : dotted.substr(last + 1);
  }

  void enter_namespace(std::string const& name) {
    if (name == namespace_) return;
    if (!namespace_.empty()) line("\n}}  // namespace {}", namespace_);
    if (!name.empty()) line("\nnamespace {} {{", name);
    namespace_ = name;
  }

  void print_enum(enum_layout const& e) {
    auto const name = enter(e.name);
    docs(e.notes.docs, "");
    line("enum class {} : {} {{", name, scalar_name(e.kind));
    for (auto const& value : e.entries) {
      if (auto const why = refuse_name(value.name); !why.empty()) fail(e.name, value.name, why);
      docs(value.docs, "  ");
      line("  {} = {},", value.name, literal_of(value.bits, e.kind));
    }
    line("}};");
  }

  // Every member starts at zero, padding too: no byte that travels is left over from somebody else's memory.
  void print_struct(struct_layout const& s) {
    auto const name = enter(s.name);
    docs(s.notes.docs, "");
    std::uint32_t natural_align = 1;
    for (auto const& f : s.fields)
      natural_align = std::max(natural_align, f.nested ? f.nested->align : f.element_bytes);
    line("struct {}{} {{", s.align > natural_align ? fmt::format("alignas({}) ", s.align) : "", name);
    int paddings = 0;
    for (std::size_t i = 0; i < s.fields.size(); ++i) {
      auto const& f = s.fields[i];
      if (auto const why = refuse_name(f.name); !why.empty()) fail(s.name, f.name, why);
      docs(f.docs, "  ");
      line("  {} {}{} = {{}};", type_of(f), f.name, f.length == 0 ? "" : fmt::format("[{}]", f.length));
      auto const next = i + 1 < s.fields.size() ? s.fields[i + 1].offset : s.bytes;
      if (auto const gap = next - end_of(f); gap != 0)
        line("  std::uint8_t padding_{}_[{}] = {{}};", paddings++, gap);
    }
    line("}};");
    line("static_assert(sizeof({}) == {});", name, s.bytes);
    line("static_assert(alignof({}) == {});", name, s.align);
    for (auto const& f : s.fields) line("static_assert(offsetof({}, {}) == {});", name, f.name, f.offset);
    line("static_assert(std::is_trivially_copyable_v<{}>);", name);
    if (s.is_message) check_message(s);
  }

  static std::size_t end_of(field_layout const& f) {
    return f.offset + std::size_t{f.element_bytes} * f.count();
  }

  std::string type_of(field_layout const& f) {
    return f.nested ? use(*f.nested) : f.choices ? use(*f.choices) : std::string(scalar_name(f.kind));
  }

  /// The type's C++ name in a field; its header is included where it is another's.
  std::string use(auto const& type) {
    check_type_name(type.name);
    if (!declared_here(type.notes))
      includes_.insert(std::filesystem::path(type.notes.declared_in).stem().string());
    return "::" + joined_name(type.name);
  }

  void check_message(struct_layout const& s) const {
    if (s.bytes > max_payload_bytes) {
      auto const over =
          std::ranges::find_if(s.fields, [](field_layout const& f) { return end_of(f) > max_payload_bytes; });
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

  void print_name(struct_layout const& s) {
    line("");
    line("template <>");
    line("struct rondo::message_name_of<::{}> {{", joined_name(s.name));
    line("  static constexpr char const* value = \"{}\";", s.name);
    line("}};");
  }

  schema_layout const& schema_;
  std::string_view source_;
  std::set<std::string> includes_;  // stems of the included schemas that declare a type of a field
  std::string text_;
  std::string namespace_;
};

}  // namespace

std::string write_header(std::span<std::uint8_t const> schema, std::string_view source,
                         std::span<std::string const> extra_includes) {
  // The developer's own schema: what a struct may be is up to C++.
  constexpr layout_limits wide{.schema_bytes = std::size_t{64} << 20, .depth = 64, .name_bytes = 4096};
  auto const layouts = read_layouts(std::as_bytes(schema), source, wide);
  return writer(layouts, source).write(extra_includes);
}

}  // namespace rondo::schemac
