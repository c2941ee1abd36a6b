// Converts messages between the bytes of their structs and JSON.
//
//   {"amount": 42}  <->  2a 00 00 00 00 00 00 00        of `struct add { amount:ulong; }`
//
// From JSON: a struct is an object. Fields that are not given are 0. Numbers are exact: what does not fit the field is
// refused. Enums are given by name or number, arrays as lists of their exact length; [ubyte:N] may also be a string of
// at most N bytes, and the rest is 0. Floats may be "NaN", "Infinity" and "-Infinity". Padding is 0. An unknown field,
// a field given twice and a value of the wrong kind are refused with the field's path.
//
// To JSON: one line, fields in the order of their offsets. Enums by name where the value has one; [ubyte:N] as a string
// where it is printable ASCII up to zeros at its end, and not empty; what is not a number as the strings above. What
// `to_json` writes `to_bytes` reads back to the same bytes, but for padding, flags other than 0 and 1, and the bits of
// a NaN.
//
// threads: const members from any thread; `add` while nobody else is in the object.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/schema/struct_layout.hpp"

namespace rondo::service {

/// A payload that is refused, or a type that is not known. The text names the type, the field, what was found and what
/// is accepted: `payload of rondo.basics.add: amount: is a string; it must be a whole number from 0 to 255`.
struct payload_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class message_schemas {
 public:
  /// Learns the structs of a binary schema; those that are known already must be the same. `source` is how errors call
  /// the schema. Throws schema_error, and then nothing was learned.
  void add(std::span<std::byte const> binary_schema, std::string_view source = "schema");

  /// `type` below is a qualified name (`rondo.basics.add`), or its end (`basics.add`, `add`) where one type alone has
  /// it.
  bool knows(std::string_view type) const;
  /// All qualified names, sorted.
  std::vector<std::string_view> names() const;

  /// Throws payload_error when no type, or more than one, is called so.
  struct_layout const& find(std::string_view type) const;

  /// The bytes of the struct. Throws payload_error.
  std::vector<std::byte> to_bytes(std::string_view type, std::string_view json) const;
  /// Throws payload_error when `bytes` are not as many as the type has.
  std::string to_json(std::string_view type, std::span<std::byte const> bytes) const;

  /// `add {amount: ulong}`, with the types of nested structs and the names of enums.
  std::string describe(std::string_view type) const;

 private:
  std::map<std::string, std::shared_ptr<struct_layout const>, std::less<>> types_;  // by qualified name
};

/// Bytes of a type without a schema, as JSON: `{"hex": "0a1b"}`. Throws payload_error.
std::vector<std::byte> bytes_from_hex(std::string_view json);
/// The other way.
std::string bytes_to_hex(std::span<std::byte const> bytes);

}  // namespace rondo::service
