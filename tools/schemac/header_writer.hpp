// Prints a schema as the plain C++20 header that kernels and hosts include.
#pragma once

#include <span>
#include <string>

#include "tools/schemac/schema_model.hpp"

namespace rondo::schemac {

/// The text of the header. `extra_includes` are include paths written as given, before the first type. An
/// included schema `common.fbs` becomes `#include "generated/common_messages.hpp"`.
std::string write_header(schema_model const& schema, std::span<std::string const> extra_includes);

}  // namespace rondo::schemac
