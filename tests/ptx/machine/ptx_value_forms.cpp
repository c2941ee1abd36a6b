// Comparisons, predicates, floats, conversions.
#include <cmath>
#include <limits>

#include "tests/ptx/machine/ptx_lanes.hpp"

namespace ptx {

namespace {

/// "p[|q], a, b[, [!]c]": p is the comparison, combined with c if there is one; q is its opposite, combined likewise.
template <class T, class Compare>
flow set_predicate(warp& w, instruction const& i, std::uint32_t lanes) {
  for_each_lane(lanes, [&](std::uint32_t lane) {
    bool p = Compare{}(as<T>(w.get(lane, i.o[1])), as<T>(w.get(lane, i.o[2])));
    bool q = !p;
    if (auto const combine = i.sub & 3; combine != 0) {
      bool const c = (w.get(lane, i.o[3]) != 0) != ((i.sub & 4) != 0);
      p = combine == 1 ? p && c : combine == 2 ? p || c : p != c;
      q = combine == 1 ? q && c : combine == 2 ? q || c : q != c;
    }
    w.set(lane, i.o[5], q);
    w.set(lane, i.o[0], p);
  });
  return flow::next;
}

template <class T, class Compare>
void add_comparison(form_table& all, std::string const& name, std::string const& type, Compare) {
  add_own(all, "setp." + name + "." + type, "p0s1s2", &set_predicate<T, Compare>);
  add_own(all, "setp." + name + ".and." + type, "p0s1s2n3", &set_predicate<T, Compare>, 1);
  add_own(all, "setp." + name + ".or." + type, "p0s1s2n3", &set_predicate<T, Compare>, 2);
  add_own(all, "setp." + name + ".xor." + type, "p0s1s2n3", &set_predicate<T, Compare>, 3);
}

template <class T>
void add_comparisons(form_table& all, std::string const& type) {
  add_comparison<T>(all, "eq", type, [](T a, T b) { return a == b; });
  add_comparison<T>(all, "ne", type, [](T a, T b) {  // a NaN makes every ordered comparison false
    return std::is_floating_point_v<T> ? a < b || a > b : a != b;
  });
  if (type[0] == 'b') return;
  add_comparison<T>(all, "lt", type, [](T a, T b) { return a < b; });
  add_comparison<T>(all, "le", type, [](T a, T b) { return a <= b; });
  add_comparison<T>(all, "gt", type, [](T a, T b) { return a > b; });
  add_comparison<T>(all, "ge", type, [](T a, T b) { return a >= b; });
  if constexpr (std::is_floating_point_v<T>) {
    add_comparison<T>(all, "equ", type, [](T a, T b) { return !(a < b || a > b); });
    add_comparison<T>(all, "neu", type, [](T a, T b) { return !(a == b); });
    add_comparison<T>(all, "ltu", type, [](T a, T b) { return !(a >= b); });
    add_comparison<T>(all, "leu", type, [](T a, T b) { return !(a > b); });
    add_comparison<T>(all, "gtu", type, [](T a, T b) { return !(a <= b); });
    add_comparison<T>(all, "geu", type, [](T a, T b) { return !(a < b); });
    add_comparison<T>(all, "num", type, [](T a, T b) { return !std::isnan(a) && !std::isnan(b); });
    add_comparison<T>(all, "nan", type, [](T a, T b) { return std::isnan(a) || std::isnan(b); });
  } else if constexpr (std::is_unsigned_v<T>) {
    add_comparison<T>(all, "lo", type, [](T a, T b) { return a < b; });
    add_comparison<T>(all, "ls", type, [](T a, T b) { return a <= b; });
    add_comparison<T>(all, "hi", type, [](T a, T b) { return a > b; });
    add_comparison<T>(all, "hs", type, [](T a, T b) { return a >= b; });
  }
}

template <class T>
void add_select(form_table& all, std::string const& type) {
  add<T, T, bool>(all, "selp." + type, [](T a, T b, bool p) { return p ? a : b; });
}

// -- floats: the results of IEEE 754, rounded to nearest even, as a GPU gives them without .ftz

/// The other operand if one is a NaN; -0 is less than +0.
template <class T>
T lesser(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}

template <class T>
void add_floats(form_table& all) {
  auto const t = "." + type_name<T>();
  for (std::string const rounding : {"", ".rn"}) {
    add<T, T>(all, "add" + rounding + t, [](T a, T b) { return a + b; });
    add<T, T>(all, "sub" + rounding + t, [](T a, T b) { return a - b; });
    add<T, T>(all, "mul" + rounding + t, [](T a, T b) { return a * b; });
  }
  add<T, T>(all, "div.rn" + t, [](T a, T b) { return a / b; });
  add<T, T, T>(all, "fma.rn" + t, [](T a, T b, T c) { return std::fma(a, b, c); });
  add<T>(all, "rcp.rn" + t, [](T a) { return T{1} / a; });
  add<T>(all, "sqrt.rn" + t, [](T a) { return std::sqrt(a); });
  add<T>(all, "neg" + t, [](T a) { return -a; });
  add<T>(all, "abs" + t, [](T a) { return std::abs(a); });
  add<T, T>(all, "min" + t, [](T a, T b) { return lesser(a, b); });
  add<T, T>(all, "max" + t, [](T a, T b) { return std::isnan(a) ? b : std::isnan(b) ? a : -lesser(-a, -b); });
}

// -- conversions

/// Integers: of the source's low bits; the result has the destination register's width.
template <class To, class From>
flow convert_integer(warp& w, instruction const& i, std::uint32_t lanes) {
  auto const mask = ~0ull >> (64 - 8 * i.width);
  for_each_lane(lanes, [&](std::uint32_t lane) {
    auto const value = static_cast<To>(as<From>(w.get(lane, i.o[1])));
    w.set(lane, i.o[0], static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & mask);
  });
  return flow::next;
}

/// The nearest integer that To has. A NaN gives 0, or with 64 bits on either side the highest bit alone.
template <class To, class From>
To round_to(From a) {
  using limits = std::numeric_limits<To>;
  if (std::isnan(a))
    return sizeof(From) < 8 && sizeof(To) < 8
               ? To{0}
               : static_cast<To>(std::make_unsigned_t<To>{1} << (sizeof(To) * 8 - 1));
  auto const above = std::ldexp(From{1}, limits::digits);
  if (a >= above) return limits::max();
  if (std::is_signed_v<To> ? a < -above : a < 0) return limits::min();
  return static_cast<To>(a);
}

template <class To>
void add_integer_conversions(form_table& all) {
  for_types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
            std::uint64_t, std::int64_t>([&](auto from) {
    using From = decltype(from);
    add_own(all, "cvt." + type_name<To>() + "." + type_name<From>(), "d0s1", &convert_integer<To, From>);
  });
}

template <class F>
void add_float_conversions(form_table& all) {
  for_types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
            std::uint64_t, std::int64_t>([&](auto integer) {
    using I = decltype(integer);
    auto const f = type_name<F>(), n = type_name<I>();
    add<I>(all, "cvt.rn." + f + "." + n, [](I a) { return static_cast<F>(a); });
    add<F>(all, "cvt.rzi." + n + "." + f, [](F a) { return round_to<I>(std::trunc(a)); });
    add<F>(all, "cvt.rni." + n + "." + f, [](F a) { return round_to<I>(std::nearbyint(a)); });
    add<F>(all, "cvt.rmi." + n + "." + f, [](F a) { return round_to<I>(std::floor(a)); });
    add<F>(all, "cvt.rpi." + n + "." + f, [](F a) { return round_to<I>(std::ceil(a)); });
  });
}

}  // namespace

void add_comparison_forms(form_table& all) {
  for_types<std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float,
            double>([&](auto t) {
    using T = decltype(t);
    add_comparisons<T>(all, type_name<T>());
    add_select<T>(all, type_name<T>());
  });
  for_types<std::uint16_t, std::uint32_t, std::uint64_t>([&](auto t) {
    using T = decltype(t);
    add_comparisons<T>(all, "b" + std::to_string(sizeof(T) * 8));
    add_select<T>(all, "b" + std::to_string(sizeof(T) * 8));
  });
  add<bool, bool>(all, "and.pred", [](bool a, bool b) { return a && b; });
  add<bool, bool>(all, "or.pred", [](bool a, bool b) { return a || b; });
  add<bool, bool>(all, "xor.pred", [](bool a, bool b) { return a != b; });
  add<bool>(all, "not.pred", [](bool a) { return !a; });
}

void add_float_forms(form_table& all) {
  add_floats<float>(all);
  add_floats<double>(all);
}

void add_conversion_forms(form_table& all) {
  for_types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
            std::uint64_t, std::int64_t>([&](auto t) { add_integer_conversions<decltype(t)>(all); });
  add_float_conversions<float>(all);
  add_float_conversions<double>(all);
  add<float>(all, "cvt.f64.f32", [](float a) { return static_cast<double>(a); });
  add<double>(all, "cvt.rn.f32.f64", [](double a) { return static_cast<float>(a); });
}

}  // namespace ptx
