#include "tools/schemac/names.hpp"

#include <algorithm>
#include <array>

namespace rondo::schemac {
namespace {

constexpr auto keywords = std::to_array<std::string_view>({
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
    "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
    "xor_eq",
});
static_assert(std::ranges::is_sorted(keywords));

}  // namespace

std::string_view refuse_name(std::string_view name) {
  if (std::ranges::binary_search(keywords, name)) return "is a C++ keyword; rename it";
  bool const capital_after_underscore = name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z';
  if (capital_after_underscore || name.find("__") != std::string_view::npos) {
    return "is reserved for the C++ implementation; rename it";
  }
  if (name == "std" || name == "posix") return "is a namespace of the C++ standard; rename it";
  if (name.starts_with("padding_") && name.ends_with("_")) {
    return "is reserved for the padding the compiler writes; rename it";
  }
  return {};
}

}  // namespace rondo::schemac
