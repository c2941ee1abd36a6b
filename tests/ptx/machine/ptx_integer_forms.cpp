// Arithmetic, logic and bits of integers.
#include <algorithm>
#include <functional>

#include "tests/ptx/machine/ptx_lanes.hpp"

namespace ptx {

namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

template <class T>
using wide_of = std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, s32, u32>,
                                   std::conditional_t<std::is_signed_v<T>, s64, u64>>;
template <class T>
using widest_of = std::conditional_t<std::is_signed_v<T>, s128, u128>;

/// Wraps instead of overflowing.
template <class T, class Op>
T wrap(T a, T b, Op op) {
  return static_cast<T>(op(static_cast<u64>(a), static_cast<u64>(b)));
}

template <class T>
void add_arithmetic(form_table& all) {
  auto const t = "." + type_name<T>();
  add<T, T>(all, "add" + t, [](T a, T b) { return wrap(a, b, std::plus<>{}); });
  add<T, T>(all, "sub" + t, [](T a, T b) { return wrap(a, b, std::minus<>{}); });
  add<T, T>(all, "mul.lo" + t, [](T a, T b) { return wrap(a, b, std::multiplies<>{}); });
  add<T, T>(all, "mul.hi" + t,
            [](T a, T b) { return static_cast<T>(widest_of<T>(a) * widest_of<T>(b) >> sizeof(T) * 8); });
  add<T, T, T>(all, "mad.lo" + t,
               [](T a, T b, T c) { return wrap(wrap(a, b, std::multiplies<>{}), c, std::plus<>{}); });
  add<T, T, T>(all, "mad.hi" + t, [](T a, T b, T c) {
    return wrap(static_cast<T>(widest_of<T>(a) * widest_of<T>(b) >> sizeof(T) * 8), c, std::plus<>{});
  });
  // A division by zero has no defined result, and is no error: compilers move divisions before the test.
  add<T, T>(all, "div" + t, [](T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    return std::is_signed_v<T> && b == static_cast<T>(-1) ? wrap(T{0}, a, std::minus<>{})
                                                          : static_cast<T>(a / b);
  });
  add<T, T>(all, "rem" + t, [](T a, T b) {
    return b == 0 ? a : std::is_signed_v<T> && b == static_cast<T>(-1) ? T{0} : static_cast<T>(a % b);
  });
  add<T, T>(all, "min" + t, [](T a, T b) { return std::min(a, b); });
  add<T, T>(all, "max" + t, [](T a, T b) { return std::max(a, b); });
  // Shifts beyond the width give zeros, or copies of the sign.
  add<T, u32>(all, "shr" + t, [](T a, u32 n) {
    return static_cast<T>(n < sizeof(T) * 8 ? a >> n : std::is_signed_v<T> && a < 0 ? -1 : 0);
  });
  if constexpr (sizeof(T) < 8) {
    using W = wide_of<T>;
    add<T, T>(all, "mul.wide" + t, [](T a, T b) { return static_cast<W>(W{a} * W{b}); });
    add<T, T, W>(all, "mad.wide" + t,
                 [](T a, T b, W c) { return wrap(static_cast<W>(W{a} * W{b}), c, std::plus<>{}); });
  }
  if constexpr (std::is_signed_v<T>) {
    add<T>(all, "neg" + t, [](T a) { return wrap(T{0}, a, std::minus<>{}); });
    add<T>(all, "abs" + t, [](T a) { return a < 0 ? wrap(T{0}, a, std::minus<>{}) : a; });
  }
}

template <class T>
void add_logic(form_table& all) {
  auto const t = ".b" + std::to_string(sizeof(T) * 8);
  add<T, T>(all, "and" + t, [](T a, T b) { return static_cast<T>(a & b); });
  add<T, T>(all, "or" + t, [](T a, T b) { return static_cast<T>(a | b); });
  add<T, T>(all, "xor" + t, [](T a, T b) { return static_cast<T>(a ^ b); });
  add<T>(all, "not" + t, [](T a) { return static_cast<T>(~a); });
  add<T, u32>(all, "shl" + t, [](T a, u32 n) { return static_cast<T>(n < sizeof(T) * 8 ? a << n : 0); });
  add<T, u32>(all, "shr" + t, [](T a, u32 n) { return static_cast<T>(n < sizeof(T) * 8 ? a >> n : 0); });
}

/// Bits [pos, pos + len) of `a`; signed: with the sign of the highest one that `a` has.
template <class T>
T extract(T a, u32 position, u32 length) {
  constexpr u32 width = sizeof(T) * 8;
  using U = std::make_unsigned_t<T>;
  position &= 0xff;
  length &= 0xff;
  auto const bits = static_cast<U>(position < width ? static_cast<U>(a) >> position : 0);
  if (length == 0) return 0;
  auto const top = std::min(position + length - 1, width - 1);
  bool const negative = std::is_signed_v<T> && (static_cast<U>(a) >> top & 1) != 0;
  auto const kept = position < width ? std::min(length, width - position) : 0;
  U const mask = kept >= width ? ~U{0} : static_cast<U>((U{1} << kept) - 1);
  return static_cast<T>((bits & mask) | (negative ? static_cast<U>(~mask) : U{0}));
}

template <class T>
T insert(T from, T into, u32 position, u32 length) {
  constexpr u32 width = sizeof(T) * 8;
  position &= 0xff;
  length &= 0xff;
  if (position >= width || length == 0) return into;
  T const mask = static_cast<T>((length >= width ? ~T{0} : (T{1} << length) - 1) << position);
  return static_cast<T>((into & ~mask) | (static_cast<T>(from << position) & mask));
}

/// The highest bit that is not a copy of the sign; ~0: none.
template <class T>
u32 find_highest(T a) {
  using U = std::make_unsigned_t<T>;
  auto const bits = static_cast<U>(std::is_signed_v<T> && a < 0 ? ~a : a);
  return bits == 0 ? ~0u : static_cast<u32>(std::bit_width(bits)) - 1;
}

template <class T>
u32 shift_to_top(u32 at) {
  return at == ~0u ? at : static_cast<u32>(sizeof(T) * 8 - 1) - at;
}

template <class T>
T reverse(T a) {
  T r = 0;
  for (std::size_t n = 0; n < sizeof(T) * 8; ++n) r = static_cast<T>(r << 1 | (a >> n & 1));
  return r;
}

/// Each of the four selectors takes a byte of b:a, or the copies of its sign.
u32 permute(u32 a, u32 b, u32 selectors) {
  auto const from = u64{b} << 32 | a;
  u32 r = 0;
  for (u32 n = 0; n < 4; ++n) {
    auto const selector = selectors >> 4 * n & 15;
    auto byte = static_cast<u32>(from >> 8 * (selector & 7) & 0xff);
    if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    r |= byte << 8 * n;
  }
  return r;
}

u32 look_up_bits(u32 a, u32 b, u32 c, u32 table) {
  u32 r = 0;
  for (u32 n = 0; n < 8; ++n)
    if ((table >> n & 1) != 0)
      r |= ((n & 4) != 0 ? a : ~a) & ((n & 2) != 0 ? b : ~b) & ((n & 1) != 0 ? c : ~c);
  return r;
}

/// The place of the offset-th set bit of `mask`, counted from `base`, upwards or downwards; ~0: none.
u32 find_nth(u32 mask, u32 base, s32 offset) {
  if (offset == 0) return base < 32 && (mask >> base & 1) != 0 ? base : ~0u;
  auto left = offset > 0 ? offset : -offset;
  for (auto at = static_cast<s32>(base); at >= 0 && at<32; at += offset> 0 ? 1 : -1)
    if ((mask >> at & 1) != 0 && --left == 0) return static_cast<u32>(at);
  return ~0u;
}

u32 funnel_left(u32 low, u32 high, u32 n) { return static_cast<u32>((u64{high} << 32 | low) << n >> 32); }
u32 funnel_right(u32 low, u32 high, u32 n) { return static_cast<u32>((u64{high} << 32 | low) >> n); }

template <class T>
void add_bits(form_table& all) {
  auto const t = std::to_string(sizeof(T) * 8);
  using S = std::make_signed_t<T>;
  add<T, u32, u32>(all, "bfe.u" + t, [](T a, u32 p, u32 n) { return extract<T>(a, p, n); });
  add<S, u32, u32>(all, "bfe.s" + t, [](S a, u32 p, u32 n) { return extract<S>(a, p, n); });
  add<T, T, u32, u32>(all, "bfi.b" + t,
                      [](T from, T into, u32 p, u32 n) { return insert<T>(from, into, p, n); });
  add<T>(all, "bfind.u" + t, [](T a) { return find_highest<T>(a); });
  add<S>(all, "bfind.s" + t, [](S a) { return find_highest<S>(a); });
  add<T>(all, "bfind.shiftamt.u" + t, [](T a) { return shift_to_top<T>(find_highest<T>(a)); });
  add<S>(all, "bfind.shiftamt.s" + t, [](S a) { return shift_to_top<T>(find_highest<S>(a)); });
  add<T>(all, "brev.b" + t, [](T a) { return reverse(a); });
  add<T>(all, "popc.b" + t, [](T a) { return static_cast<u32>(std::popcount(a)); });
  add<T>(all, "clz.b" + t, [](T a) { return static_cast<u32>(std::countl_zero(a)); });
}

}  // namespace

void add_integer_forms(form_table& all) {
  for_types<u16, u32, u64, s16, s32, s64>([&](auto t) { add_arithmetic<decltype(t)>(all); });
  for_types<u16, u32, u64>([&](auto t) { add_logic<decltype(t)>(all); });
  for_types<u32, u64>([&](auto t) { add_bits<decltype(t)>(all); });
  add<u32, u32, u32>(all, "prmt.b32", [](u32 a, u32 b, u32 c) { return permute(a, b, c); });
  add<u32, u32, u32, u32>(all, "lop3.b32",
                          [](u32 a, u32 b, u32 c, u32 t) { return look_up_bits(a, b, c, t); });
  add<u32, u32, s32>(all, "fns.b32", [](u32 m, u32 base, s32 n) { return find_nth(m, base, n); });
  add<u32, u32, u32>(all, "shf.l.wrap.b32", [](u32 a, u32 b, u32 n) { return funnel_left(a, b, n & 31); });
  add<u32, u32, u32>(all, "shf.r.wrap.b32", [](u32 a, u32 b, u32 n) { return funnel_right(a, b, n & 31); });
  add<u32, u32, u32>(all, "shf.l.clamp.b32",
                     [](u32 a, u32 b, u32 n) { return funnel_left(a, b, std::min(n, 32u)); });
  add<u32, u32, u32>(all, "shf.r.clamp.b32",
                     [](u32 a, u32 b, u32 n) { return funnel_right(a, b, std::min(n, 32u)); });
}

}  // namespace ptx
