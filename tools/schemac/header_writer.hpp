// Prints a schema as the plain C++20 header that kernels and hosts include.
//
// The schema is flatc's binary one (.bfbs), whose layouts runtime/schema/struct_layout.hpp reads and checks; here
// follows what C++ and messages require in addition.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rondo::schemac {

/// The text of the header. `source` is the schema's file name (`basics.fbs`): only what that file declares is printed;
/// an included schema `common.fbs`, if a type of it is used, becomes `#include "generated/common_messages.hpp"`.
/// `extra_includes` are include paths written as given, before the first type. Throws schema_error, whose text names
/// the file, the struct and the field.
std::string write_header(std::span<std::uint8_t const> schema, std::string_view source,
                         std::span<std::string const> extra_includes);

}  // namespace rondo::schemac
