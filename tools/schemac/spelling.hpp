// How the types, values and comments of a schema are spelled in C++.
#pragma once

#include <flatbuffers/reflection_generated.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::schemac {

struct scalar_spelling {
  std::string_view name;  ///< empty when the type is no scalar
  std::size_t bytes = 0;
};

scalar_spelling scalar_of(reflection::BaseType type);

/// `a.b.c` as `::a::b::c`.
std::string global_name(std::string_view dotted);

/// The value of an enumerator, as an expression of the enum's underlying type.
std::string literal_of(std::int64_t value, reflection::BaseType underlying);

/// Comment lines that can stand behind `///` without harm to the line after them. Null gives none.
std::vector<std::string> docs_of(flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> const* lines);

}  // namespace rondo::schemac
