// Prints a binary schema as a C++ header that holds its bytes, for programs that describe their messages to others.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rondo::schemac {

/// The text of a header with the function `rondo::generated::<stem>_schema()`, which returns the bytes. `source` is the
/// schema's file name (`basics.fbs`); characters of its stem that no C++ name can have become underscores.
std::string embed_schema(std::span<std::uint8_t const> bytes, std::string_view source);

}  // namespace rondo::schemac
