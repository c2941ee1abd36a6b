// Names of a schema that may become C++ names.
#pragma once

#include <string_view>

namespace rondo::schemac {

/// Why the identifier `name` cannot be a C++ name, as the end of a sentence that begins with the name; empty when it
/// can.
std::string_view refuse_name(std::string_view name);

}  // namespace rondo::schemac
