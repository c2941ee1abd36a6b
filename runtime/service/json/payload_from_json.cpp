#include "runtime/service/json/payload_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <system_error>

#include "runtime/service/json/message_schemas.hpp"
#include "runtime/text/json_node.hpp"
#include "runtime/text/json_string.hpp"
#include "runtime/text/parse_number.hpp"

namespace rondo::service {
namespace {

std::string names_of(struct_layout const& s) {
  std::string text;
  for (auto const& f : s.fields) text += (text.empty() ? "" : ", ") + f.name;
  return text;
}

/// What one element of the field accepts, in words.
std::string accepted(field_layout const& f) {
  if (f.kind == field_kind::boolean) return "true or false";
  if (f.kind == field_kind::nested)
    return fmt::format("an object with fields of {}: {}", f.nested->name, names_of(*f.nested));
  return with_number(f.kind, [&]<class Number>(Number) {
    if (std::floating_point<Number>)
      return fmt::format("a number within the range of a {}, \"NaN\", \"Infinity\" or \"-Infinity\"",
                         name_of(f.kind));
    using limits = std::numeric_limits<Number>;
    auto const number = fmt::format("a whole number from {} to {}", limits::min(), limits::max());
    return f.choices ? fmt::format("one of {}, or {}", names_of(*f.choices, ", "), number) : number;
  });
}

std::string accepted_list(field_layout const& f) {
  return f.is_text() ? fmt::format("a string of at most {0} bytes, or a list of {0} numbers", f.length)
                     : fmt::format("a list of {} entries", f.length);
}

/// Reads a number, correctly rounded. False if it would become infinite, or 0 although it is not.
template <class Float>
bool read_float(std::string_view text, Float& value) {
  auto const number = parse_real<Float>(text);
  if (!number || std::isinf(*number)) return false;
  value = *number;
  auto const mantissa = text.substr(0, text.find_first_of("eE"));
  return value != 0 || mantissa.find_first_of("123456789") == std::string_view::npos;
}

template <class Float>
bool read_word(std::string_view word, Float& value) {
  using limits = std::numeric_limits<Float>;
  if (word == "NaN")
    value = limits::quiet_NaN();
  else if (word == "Infinity")
    value = limits::infinity();
  else if (word == "-Infinity")
    value = -limits::infinity();
  else
    return false;
  return true;
}

class writer {
 public:
  writer(struct_layout const& type) : type_(type), bytes_(type.bytes) {}

  std::vector<std::byte> write(std::string_view json) {
    json_node root;
    try {
      root = parse_json_node(json);
    } catch (json_error const& e) {
      throw payload_error(fmt::format("payload of {}: {}", type_.name, e.what()));
    }
    if (root.what != json_node::kind::object)
      fail(fmt::format("is {}; it must be an object with fields of {}: {}", root.described(), type_.name,
                       names_of(type_)));
    put_struct(type_, root, 0);
    return std::move(bytes_);
  }

 private:
  [[noreturn]] void fail(std::string_view reason) const {
    throw payload_error(
        fmt::format("payload of {}: {}{}{}", type_.name, path_, path_.empty() ? "" : ": ", reason));
  }
  [[noreturn]] void refuse(json_node const& found, std::string_view wanted) const {
    fail(fmt::format("is {}; it must be {}", found.described(), wanted));
  }

  /// While it lives, errors begin with the path to this field or element: `.name` or `[index]` is added.
  class step {
   public:
    step(std::string& path, std::string_view name) : path_(path), old_(path.size()) {
      if (!path.empty()) path += '.';
      path += name;
    }
    step(std::string& path, std::size_t index) : path_(path), old_(path.size()) {
      path += fmt::format("[{}]", index);
    }
    ~step() { path_.resize(old_); }
    step(step const&) = delete;
    step& operator=(step const&) = delete;

   private:
    std::string& path_;
    std::size_t old_;
  };

  template <class T>
  void store(std::size_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }

  void put_struct(struct_layout const& s, json_node const& object, std::size_t at) {
    std::vector<bool> given(s.fields.size());
    for (std::size_t i = 0; i < object.entries.size(); ++i) {
      auto const found = std::ranges::find(s.fields, object.names[i], &field_layout::name);
      if (found == s.fields.end())
        fail(fmt::format("{} is not a field of {}; expected one of {}", json_string(object.names[i]), s.name,
                         names_of(s)));
      step const here(path_, found->name);
      auto const place = static_cast<std::size_t>(found - s.fields.begin());
      if (given[place]) fail("is given twice");
      given[place] = true;
      put_field(*found, object.entries[i], at + found->offset);
    }
  }

  void put_field(field_layout const& f, json_node const& value, std::size_t at) {
    if (f.length == 0) return put_element(f, value, at);
    if (f.is_text() && value.what == json_node::kind::string) {
      if (value.text.size() > f.length)
        fail(fmt::format("is a string of {} bytes; it must be {}", value.text.size(), accepted_list(f)));
      std::memcpy(bytes_.data() + at, value.text.data(), value.text.size());
      return;
    }
    if (value.what != json_node::kind::list) refuse(value, accepted_list(f));
    if (value.entries.size() != f.length)
      fail(fmt::format("is a list of {} entries; it must be {}", value.entries.size(), accepted_list(f)));
    for (std::size_t i = 0; i < value.entries.size(); ++i) {
      step const here(path_, i);
      put_element(f, value.entries[i], at + i * f.element_bytes);
    }
  }

  void put_element(field_layout const& f, json_node const& value, std::size_t at) {
    switch (f.kind) {
      case field_kind::boolean:
        if (value.what != json_node::kind::flag) refuse(value, accepted(f));
        return store(at, static_cast<std::uint8_t>(value.flag));
      case field_kind::nested:
        if (value.what != json_node::kind::object) refuse(value, accepted(f));
        return put_struct(*f.nested, value, at);
      default:
        return with_number(f.kind, [&]<class Number>(Number) { put_number<Number>(f, value, at); });
    }
  }

  template <std::integral Integer>
  void put_number(field_layout const& f, json_node const& value, std::size_t at) {
    if (f.choices && value.what == json_node::kind::string) {
      auto const found = std::ranges::find(f.choices->entries, value.text, &enum_entry::name);
      if (found == f.choices->entries.end())
        fail(fmt::format("is {}; it must be {}", json_string(value.text), accepted(f)));
      return store(at, static_cast<Integer>(found->bits));
    }
    Integer number{};
    auto const* const end = value.text.data() + value.text.size();
    if (value.what != json_node::kind::number) refuse(value, accepted(f));
    if (auto const [stop, failed] = std::from_chars(value.text.data(), end, number);
        failed != std::errc() || stop != end)
      refuse(value, accepted(f));
    store(at, number);
  }

  template <std::floating_point Float>
  void put_number(field_layout const& f, json_node const& value, std::size_t at) {
    Float number{};
    bool const fits = value.what == json_node::kind::number   ? read_float(value.text, number)
                      : value.what == json_node::kind::string ? read_word(value.text, number)
                                                              : false;
    if (!fits) refuse(value, accepted(f));
    store(at, number);
  }

  struct_layout const& type_;
  std::vector<std::byte> bytes_;
  std::string path_;  // of the field being read
};

}  // namespace

std::vector<std::byte> payload_from_json(struct_layout const& type, std::string_view json) {
  return writer(type).write(json);
}

}  // namespace rondo::service
