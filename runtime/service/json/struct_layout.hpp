// The memory layout of a message's struct, read from a binary FlatBuffers schema (.bfbs).
//
// A schema may come from another process: nothing in it is believed. Its bytes pass FlatBuffers' verifier, then every
// index, offset, size, name and depth is checked here, once. Whoever has a struct_layout can trust it:
//   1. fields are in the order of their offsets, do not overlap, and lie within the struct;
//   2. a struct has at most max_payload_bytes, at least one field, and structs nest at most max_layout_depth deep;
//   3. names are C++ identifiers (types: joined by dots), so they need no escaping in JSON or logs.
//
// threads: layouts are immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/message.hpp"

namespace rondo::service {

inline constexpr std::size_t max_schema_bytes = std::size_t{1} << 18;
inline constexpr std::uint32_t max_layout_depth = 8;

/// A binary schema that is refused. The text names the schema, the type, the field and the reason.
struct schema_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What one element of a field is; enums are of the kind of integer that holds them.
enum class field_kind : std::uint8_t {
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  nested
};

/// FlatBuffers' word for a kind of scalar: `ulong`.
std::string_view name_of(field_kind kind) noexcept;
/// Of one scalar.
std::size_t bytes_of(field_kind kind) noexcept;

struct enum_entry {
  std::string name;
  std::uint64_t bits;  // two's complement
  bool operator==(enum_entry const&) const = default;
};

struct enum_layout {
  std::string name;  // with namespace
  std::vector<enum_entry> entries;
  bool operator==(enum_layout const&) const = default;
};

/// The names of the first dozen values, for people.
std::string names_of(enum_layout const& e, std::string_view between);

struct struct_layout;

struct field_layout {
  std::string name;
  field_kind kind = field_kind::uint8;
  std::uint32_t offset = 0;
  std::uint32_t element_bytes = 0;
  std::uint32_t length = 0;                     // elements of an array; 0: a single value
  std::shared_ptr<enum_layout const> choices;   // of an enum, else null
  std::shared_ptr<struct_layout const> nested;  // of a nested struct, else null

  std::uint32_t count() const noexcept { return length == 0 ? 1 : length; }
  /// What may be written as a string.
  bool is_text() const noexcept { return length != 0 && kind == field_kind::uint8 && !choices; }
};

struct struct_layout {
  std::string name;  // with namespace: `rondo.basics.add`
  std::uint32_t bytes = 0;
  std::uint32_t align = 1;
  std::uint32_t depth = 1;  // 1: no nested struct
  std::vector<field_layout> fields;
  std::string doc;  // the first line of its comment; not part of what makes two layouts the same

  /// Without the namespace.
  std::string_view short_name() const noexcept;
};

/// The same names, offsets and types, all the way down.
bool same_layout(struct_layout const& a, struct_layout const& b);

/// All structs of the schema that are small enough for a message. `source` is how errors call the schema. Throws
/// schema_error.
std::vector<std::shared_ptr<struct_layout const>> read_layouts(std::span<std::byte const> binary_schema,
                                                               std::string_view source);

}  // namespace rondo::service
