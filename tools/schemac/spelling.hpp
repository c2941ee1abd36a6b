// How the types, values and comments of a schema are spelled in C++.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/service/json/struct_layout.hpp"

namespace rondo::schemac {

/// `std::uint8_t`, ...; empty for a nested struct.
std::string_view scalar_name(service::field_kind kind);

/// `a.b.c` as `a::b::c`.
std::string joined_name(std::string_view dotted);
/// `a.b.c` as `::a::b::c`.
std::string global_name(std::string_view dotted);

/// The value of an enumerator, as an expression of the enum's underlying type.
std::string literal_of(std::uint64_t bits, service::field_kind underlying);

/// Comment lines that can follow `///` without harm to the line after them.
std::vector<std::string> comment_lines(std::span<std::string const> docs);

}  // namespace rondo::schemac
