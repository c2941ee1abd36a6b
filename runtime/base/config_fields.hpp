// The table of configuration fields: each field's description from schemas/config.fbs with its member of
// rondo::config.
//
// Code that handles all fields alike (file, environment, validation, --help) walks this table. It is private
// to the library: users include runtime/base/config.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/base/config.hpp"
#include "runtime/text/json_node.hpp"

namespace rondo::config_fields {

using member = std::variant<std::string config::*, bool config::*, rondo::ring_mode config::*,
                            rondo::log_level config::*, std::uint32_t config::*, std::uint64_t config::*>;

/// A field's value before it is checked: numbers, flags, and text for strings and choices.
using value = std::variant<std::uint64_t, bool, std::string>;

struct field {
  std::string name;
  std::string doc;
  member where;
  std::uint16_t id = 0;  ///< order in the schema
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  bool power_of_two = false;
  std::string words;     ///< what a string may be, with commas between; N stands for a number
  bool is_list = false;  ///< a string may be several words with commas between
  std::string alone;     ///< of a list: a further word that nothing may stand next to; empty: none
  std::vector<std::string> choices;  ///< names of an enum, by value

  bool is_flag() const { return std::holds_alternative<bool config::*>(where); }
  bool is_choice() const {
    return std::holds_alternative<rondo::ring_mode config::*>(where) ||
           std::holds_alternative<rondo::log_level config::*>(where);
  }
  bool is_string() const { return std::holds_alternative<std::string config::*>(where); }
  bool is_number() const { return !is_flag() && !is_choice() && !is_string(); }
};

/// All fields, in the order of the schema. Throws std::logic_error if struct and schema have different
/// fields.
std::vector<field> const& all();

/// The field with this name, or null.
field const* find(std::string_view name);

/// What the field accepts, such as `a whole number from 1 to 32`.
std::string accepted(field const& f);

/// The names of all fields, for errors.
std::vector<std::string> known_names();

/// As describe_config_fields, for a program whose defaults are these.
std::string help_text(config const& defaults);

/// `given`, for an error, shortened to fit on a line.
std::string shortened(std::string_view given);

/// The position in a file of an object's field, counted from 0, for errors.
using origin_of_field = std::function<std::string(std::size_t field)>;
/// Sets the fields that a JSON object names. Throws config_error.
void read(config& settings, json_node const& object, origin_of_field const& origin);

/// The field's value in `settings`.
value get(config const& settings, field const& f);

/// Checks `given` and stores it in its member. Throws config_error; its text starts with `origin`.
void set(config& settings, field const& f, value const& given, std::string_view origin);

/// Whether `text` is how a file or variable would give `v`, or a list with `v` in it.
bool gives(std::string_view text, field const& f, value const& v);

/// Throws config_error: origin, name, reason.
[[noreturn]] void refuse(std::string_view origin, std::string_view name, std::string_view reason);

}  // namespace rondo::config_fields
