// A payload of any type, as JSON with a value in every field.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/service/json/message_schemas.hpp"

namespace rondo_test {

inline void fill_example(std::byte* at, rondo::struct_layout const& s);

inline void fill_element(std::byte* at, rondo::field_layout const& f) {
  using rondo::field_kind;
  auto const bits = f.choices && !f.choices->entries.empty() ? f.choices->entries.front().bits : 1;
  switch (f.kind) {
    case field_kind::float32: {
      float const value = 1.5f;
      std::memcpy(at, &value, sizeof value);
      return;
    }
    case field_kind::float64: {
      double const value = 1.5;
      std::memcpy(at, &value, sizeof value);
      return;
    }
    case field_kind::nested:
      return fill_example(at, *f.nested);
    default:
      for (std::size_t i = 0; i < f.element_bytes; ++i) at[i] = static_cast<std::byte>(bits >> (8 * i));
  }
}

inline void fill_example(std::byte* at, rondo::struct_layout const& s) {
  for (auto const& f : s.fields) {
    constexpr std::string_view text = "text";
    if (f.is_text())
      std::memcpy(at + f.offset, text.data(), std::min<std::size_t>(text.size(), f.length));
    else
      for (std::uint32_t i = 0; i < f.count(); ++i) fill_element(at + f.offset + i * f.element_bytes, f);
  }
}

inline std::string example_of(rondo::service::message_schemas const& known, std::string_view type) {
  auto const& layout = known.find(type);
  std::vector<std::byte> bytes(layout.bytes);
  fill_example(bytes.data(), layout);
  return known.to_json(type, bytes);
}

}  // namespace rondo_test
