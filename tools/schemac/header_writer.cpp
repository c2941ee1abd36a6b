#include "tools/schemac/header_writer.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <vector>

#include "tools/schemac/spelling.hpp"

namespace rondo::schemac {
namespace {

class writer {
 public:
  writer(schema_model const& schema, std::span<std::string const> extra_includes) {
    prologue(schema, extra_includes);
    for (auto const& e : schema.enums) print_enum(e);
    for (auto const& s : schema.structs) print_struct(s);
    enter_namespace("");
    for (auto const& s : schema.structs) {
      if (s.is_message) print_name(s);
    }
  }

  std::string take() { return std::move(text_); }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void prologue(schema_model const& schema, std::span<std::string const> extra_includes) {
    line("// Messages of {}, written by rondo-schemac: edit the schema, not this file.", schema.source);
    line("#pragma once");
    line("");
    line("#include <cstddef>");
    line("#include <cstdint>");
    line("#include <type_traits>");
    line("");
    for (auto const& path : extra_includes) line("#include \"{}\"", path);
    for (auto const& stem : schema.includes) line("#include \"generated/{}_messages.hpp\"", stem);
    line("#include \"kernels/base/message.hpp\"");
  }

  void docs(std::vector<std::string> const& lines, std::string_view indent) {
    for (auto const& doc : lines) line("{}///{}", indent, doc);
  }

  // Opens and closes namespaces as types ask for them. Returns the type's own name.
  std::string_view enter(std::string_view dotted) {
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

  void print_enum(enum_type const& e) {
    auto const name = enter(e.name);
    docs(e.docs, "");
    line("enum class {} : {} {{", name, e.underlying);
    for (auto const& value : e.values) {
      docs(value.docs, "  ");
      line("  {} = {},", value.name, value.literal);
    }
    line("}};");
  }

  // Every member starts at zero, padding too: no byte that travels is left over from somebody else's memory.
  void print_struct(struct_type const& s) {
    auto const name = enter(s.name);
    docs(s.docs, "");
    line("struct {}{} {{", s.over_aligned ? fmt::format("alignas({}) ", s.align) : "", name);
    int paddings = 0;
    for (auto const& field : s.fields) {
      docs(field.docs, "  ");
      if (field.length == 0)
        line("  {} {} = {{}};", field.type, field.name);
      else
        line("  {} {}[{}] = {{}};", field.type, field.name, field.length);
      if (field.padding_after != 0) {
        line("  std::uint8_t padding_{}_[{}] = {{}};", paddings++, field.padding_after);
      }
    }
    line("}};");
    line("static_assert(sizeof({}) == {});", name, s.bytes);
    line("static_assert(alignof({}) == {});", name, s.align);
    for (auto const& field : s.fields) {
      line("static_assert(offsetof({}, {}) == {});", name, field.name, field.offset);
    }
    line("static_assert(std::is_trivially_copyable_v<{}>);", name);
  }

  void print_name(struct_type const& s) {
    line("");
    line("template <>");
    line("struct rondo::message_name_of<{}> {{", global_name(s.name));
    line("  static constexpr char const* value = \"{}\";", s.name);
    line("}};");
  }

  std::string text_;
  std::string namespace_;
};

}  // namespace

std::string write_header(schema_model const& schema, std::span<std::string const> extra_includes) {
  return writer(schema, extra_includes).take();
}

}  // namespace rondo::schemac
