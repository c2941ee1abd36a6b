// Helpers of instruction handlers: a value of a type in a 64-bit register, and operations over lanes.
//
// A register holds its value's bits, with zeros above them.
#pragma once

#include <bit>
#include <type_traits>

#include "tests/ptx/machine/ptx_forms.hpp"
#include "tests/ptx/machine/ptx_warp.hpp"

namespace ptx {

template <class T>
T as(std::uint64_t bits) noexcept {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else if constexpr (std::is_same_v<T, bool>)
    return bits != 0;
  else
    return static_cast<T>(bits);
}

template <class T>
std::uint64_t bits_of(T value) noexcept {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<std::uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<std::uint64_t>(value);
  else if constexpr (std::is_same_v<T, bool>)
    return value ? 1 : 0;
  else
    return static_cast<std::make_unsigned_t<T>>(value);
}

/// o[0] = Op(o[1], ...), with operands of types From and a result of Op's type.
template <class Op, class... From>
flow compute(warp& w, instruction const& i, std::uint32_t lanes) {
  for_each_lane(lanes, [&](std::uint32_t lane) {
    auto const value = [&]<std::size_t... N>(std::index_sequence<N...>) {
      return Op{}(as<From>(w.get(lane, i.o[N + 1]))...);
    }
    (std::index_sequence_for<From...>{});
    w.set(lane, i.o[0], bits_of(value));
  });
  return flow::next;
}

/// Adds the form `name` with operands of types From, and `op` as its function.
template <class... From, class Op>
void add(form_table& all, std::string const& name, Op) {
  form f;
  f.operands = sizeof...(From) == 1   ? "d0s1"
               : sizeof...(From) == 2 ? "d0s1s2"
               : sizeof...(From) == 3 ? "d0s1s2s3"
                                      : "d0s1s2s3s4";
  f.record.run = &compute<Op, From...>;
  all.insert_or_assign(name, std::move(f));
}

/// Adds a form whose handler is its own.
inline form& add_own(form_table& all, std::string const& name, std::string operands, handler run,
                     std::uint8_t sub = 0) {
  form f;
  f.operands = std::move(operands);
  f.record.run = run;
  f.record.sub = sub;
  return all.insert_or_assign(name, std::move(f)).first->second;
}

/// "s32" for std::int32_t.
template <class T>
std::string type_name() {
  std::string const letter = std::is_floating_point_v<T> ? "f" : std::is_signed_v<T> ? "s" : "u";
  return letter + std::to_string(sizeof(T) * 8);
}

/// Calls `visit` with a value of each type.
template <class... T, class Visit>
void for_types(Visit visit) {
  (visit(T{}), ...);
}

}  // namespace ptx
