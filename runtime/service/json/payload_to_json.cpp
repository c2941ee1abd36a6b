#include "runtime/service/json/payload_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <iterator>
#include <utility>

#include "runtime/text/json_node.hpp"
#include "runtime/text/json_string.hpp"

namespace rondo::service {
namespace {

class printer {
 public:
  printer(std::span<std::byte const> bytes) : bytes_(bytes) {}

  std::string print(struct_layout const& type) {
    print_struct(type, 0);
    return std::move(text_);
  }

 private:
  template <class T>
  T load(std::size_t at) const {
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }

  template <class T>
  void put(T value) {
    fmt::format_to(std::back_inserter(text_), "{}", value);
  }

  void print_struct(struct_layout const& s, std::size_t at) {
    char before = '{';
    for (auto const& f : s.fields) {
      text_ += std::exchange(before, ',');
      text_ += '"' + f.name + "\":";
      print_field(f, at + f.offset);
    }
    text_ += '}';
  }

  void print_field(field_layout const& f, std::size_t at) {
    if (f.length == 0) return print_element(f, at);
    if (f.is_text() && print_text(bytes_.subspan(at, f.length))) return;
    char before = '[';
    for (std::size_t i = 0; i < f.length; ++i) {
      text_ += std::exchange(before, ',');
      print_element(f, at + i * f.element_bytes);
    }
    text_ += ']';
  }

  bool print_text(std::span<std::byte const> array) {
    std::string_view text(reinterpret_cast<char const*>(array.data()), array.size());
    text = text.substr(0, text.find_last_not_of('\0') + 1);  // npos + 1 is 0
    if (text.empty() || !std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; })) return false;
    text_ += json_string(text);
    return true;
  }

  void print_element(field_layout const& f, std::size_t at) {
    if (f.kind == field_kind::boolean) return put(load<std::uint8_t>(at) != 0);
    if (f.kind == field_kind::nested) return print_struct(*f.nested, at);
    with_number(f.kind, [&]<class Number>(Number) { print_number(f, load<Number>(at)); });
  }

  void print_number(field_layout const& f, std::integral auto value) {
    if (f.choices) {
      auto const bits = static_cast<std::uint64_t>(value);  // extends the sign, as the entries do
      auto const found = std::ranges::find(f.choices->entries, bits, &enum_entry::bits);
      if (found != f.choices->entries.end()) {
        text_ += '"' + found->name + '"';
        return;
      }
    }
    put(value);
  }

  // The shortest digits that read back to the same bits.
  void print_number(field_layout const&, std::floating_point auto value) {
    if (std::isnan(value))
      text_ += "\"NaN\"";
    else if (std::isinf(value))
      text_ += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    else
      put(value);
  }

  std::span<std::byte const> bytes_;
  std::string text_;
};

}  // namespace

std::string payload_to_json(struct_layout const& type, std::span<std::byte const> bytes) {
  return printer(bytes).print(type);
}

}  // namespace rondo::service
