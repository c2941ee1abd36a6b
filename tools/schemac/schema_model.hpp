// What the schema compiler knows of one schema: its structs and enums, checked and in the order to write them.
//
// `read_schema` takes flatc's binary schema (.bfbs), whose layouts runtime/service/json/struct_layout.hpp reads and checks; here
// follows what C++ and messages require in addition. `header_writer` prints the result as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/service/json/struct_layout.hpp"

namespace rondo::schemac {

using service::schema_error;  // its text names the schema file, the struct and the field

struct enum_value {
  std::string name;
  std::string literal;  ///< as C++ source, e.g. `-3` or `18446744073709551615u`
  std::vector<std::string> docs;
};

struct enum_type {
  std::string name;        ///< with namespace, `a.b.colour`
  std::string underlying;  ///< as C++ source, e.g. `std::uint8_t`
  std::vector<enum_value> values;
  std::vector<std::string> docs;
};

struct struct_field {
  std::string name;
  std::string type;  ///< as C++ source; types of the schema are written from the global namespace
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::size_t length = 0;         ///< elements of an array, 0 for a single value
  std::size_t padding_after = 0;  ///< bytes up to the next field, or to the end of the struct
  std::vector<std::string> docs;
};

struct struct_type {
  std::string name;  ///< with namespace, `a.b.frame`
  std::size_t bytes = 0;
  std::size_t align = 1;
  bool over_aligned = false;  ///< `align` is more than the fields ask for
  bool is_message = false;
  std::vector<struct_field> fields;  ///< by offset
  std::vector<std::string> docs;
};

struct schema_model {
  std::string source;                 ///< the schema's file name, `overlay.fbs`
  std::vector<std::string> includes;  ///< stems of the included schemas that declare a type
  std::vector<enum_type> enums;
  std::vector<struct_type> structs;  ///< a struct comes after the structs it contains
};

/// Checks and reads a binary schema. `source` is the schema's file name (`overlay.fbs`): only what that file
/// declares is in the result; what it includes is named in `includes`. Throws schema_error.
schema_model read_schema(std::span<std::uint8_t const> bytes, std::string const& source);

}  // namespace rondo::schemac
