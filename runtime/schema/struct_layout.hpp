// The layout of structs in memory, read from a binary FlatBuffers schema (.bfbs): for JSON payloads, and for the schema
// compiler.
//
// A schema may come from another process, so nothing in it is trusted. Its bytes pass FlatBuffers' verifier, then every
// index, offset, size, name and depth is checked once. A struct_layout can be relied on:
//   1. fields are in the order of their offsets, the first one at 0; they do not overlap, and lie within the struct;
//   2. a struct has at least one field, and structs nest at most layout_limits::depth deep;
//   3. names are C++ identifiers (types: joined by dots), so they need no escaping in JSON or logs.
//
// Threads: layouts are immutable.
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

namespace rondo {

/// What a schema may need. The defaults are for schemas of other processes.
struct layout_limits {
  std::size_t schema_bytes = std::size_t{256} << 10;  // of a binary schema
  std::uint32_t depth = 8;                            // of nested structs; reading them recurses
  std::size_t name_bytes = 256;  // of a type with its namespace, of a field, or of an enum's value
};

/// A binary schema that is refused. The text names the schema, the type, the field and the reason.
struct schema_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What one element of a field is; enums are of the kind of integer that holds them. Scalars in FlatBuffers' order.
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

/// Whether it is a signed integer.
bool is_signed(field_kind kind) noexcept;

/// What a schema says of a type beyond its layout.
struct type_notes {
  std::string declared_in;        // the file; empty: older versions of flatc do not write it
  std::vector<std::string> docs;  // lines of its comment, as they came: nothing is escaped
};

/// One value of an enum.
struct enum_entry {
  std::string name;                 // as in the schema
  std::uint64_t bits;               // two's complement
  std::vector<std::string> docs{};  // lines of its comment
};

/// An enum.
struct enum_layout {
  std::string name{};                   // with namespace
  field_kind kind = field_kind::uint8;  // the integer that holds it
  std::vector<enum_entry> entries{};    // in the order of their numbers
  type_notes notes{};                   // what else the schema says

  /// Without the namespace.
  std::string_view short_name() const noexcept;
};

/// The names of the first dozen values, for people.
std::string names_of(enum_layout const& e, std::string_view between);

struct struct_layout;

/// A field of a struct.
struct field_layout {
  std::string name;                             // as in the schema
  field_kind kind = field_kind::uint8;          // of an element
  std::uint32_t offset = 0;                     // from the start of the struct, in bytes
  std::uint32_t element_bytes = 0;              // size of an element
  std::uint32_t length = 0;                     // elements of an array; 0: a single value
  std::shared_ptr<enum_layout const> choices;   // of an enum, else null
  std::shared_ptr<struct_layout const> nested;  // of a nested struct, else null
  std::vector<std::string> docs{};              // lines of its comment

  /// The number of elements.
  std::uint32_t count() const noexcept { return length == 0 ? 1 : length; }
  /// What may be written as a string.
  bool is_text() const noexcept { return length != 0 && kind == field_kind::uint8 && !choices; }
};

struct struct_layout {
  std::string name;                    // with namespace: `rondo.basics.add`
  std::uint32_t bytes = 0;             // size
  std::uint32_t align = 1;             // alignment
  std::uint32_t depth = 1;             // 1: no nested struct
  std::vector<field_layout> fields{};  // in the order of their offsets
  bool is_message = false;             // has the attribute (message)
  type_notes notes{};                  // what else the schema says

  /// Without the namespace.
  std::string_view short_name() const noexcept;
  /// Whether a message can hold it.
  bool is_payload() const noexcept { return bytes <= max_payload_bytes && align <= alignof(message); }
};

/// Whether names, offsets and types are the same, all the way down. Notes and comments may differ.
bool same_layout(struct_layout const& a, struct_layout const& b);

/// The types of a schema.
struct schema_layout {
  std::vector<std::shared_ptr<struct_layout const>> structs;  // a struct comes after those it contains
  std::vector<std::shared_ptr<enum_layout const>> enums;      // of the schema
  std::vector<std::string>
      message_tables;  // tables with the attribute (message), although their layout is not fixed
};

/// Reads the structs and enums of a schema; errors call it `source`. Throws schema_error if it is not a schema, is
/// damaged, or exceeds the limits.
schema_layout read_layouts(std::span<std::byte const> binary_schema, std::string_view source,
                           layout_limits const& limits = {});

}  // namespace rondo
