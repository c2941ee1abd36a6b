// Finds out whether a struct has an address among its members: a pointer, a pointer to a member, or a reference, in
// arrays and in members of members, too. Addresses mean nothing to the process that restores a checkpoint.
//
// Only aggregates show their members. Not seen: private members, those of base classes and unions, and those beyond the
// 32nd. A behaviour with such an address declares `holds_addresses` (kernels/actor/module.hpp). Then this looks at none
// of its members; so the declaration also helps a struct that cannot be taken apart, for example because it has an
// anonymous union.
//
// Boost.PFR would take each element of an array for a member. So the members are counted here, by an empty initializer
// for each, and bound to as many names.
#pragma once

#include <array>
#include <boost/preprocessor/punctuation/comma_if.hpp>
#include <boost/preprocessor/repetition/enum.hpp>
#include <boost/preprocessor/repetition/enum_params.hpp>
#include <boost/preprocessor/repetition/repeat_from_to.hpp>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace rondo::detail {

/// Becomes any base class of T.
template <class T>
struct any_base {
  template <class Base>
  requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>) operator Base() const;
};
template <class T>
concept has_base = requires {
  T{any_base<T>{}};
};
/// Becomes any value, or any reference.
struct any_value {
  template <class T>
  operator T() const;
};
struct any_reference {
  template <class T>
  operator T&() const;
};
/// Can be bound to names, but not by its members.
template <class T>
concept is_tuple_like = requires {
  std::tuple_size<T>::value;
};
template <class T>
inline constexpr bool is_array_holding_address = false;

#define RONDO_NO_VALUE(z, n, unused) \
  {}

/// Whether T has at least Count members, and each of them a default.
template <class T, std::size_t Count>
inline constexpr bool has_members = Count == 0;
#define RONDO_HAS_MEMBERS(z, n, unused)                \
  template <class T>                                   \
  inline constexpr bool has_members<T, n> = requires { \
    T{BOOST_PP_ENUM_##z(n, RONDO_NO_VALUE, ~)};        \
  };
BOOST_PP_REPEAT_FROM_TO(1, 34, RONDO_HAS_MEMBERS, ~)
#undef RONDO_HAS_MEMBERS

/// Whether T has a member behind the first Count ones.
template <class T, std::size_t Count>
inline constexpr bool has_more = false;
#define RONDO_HAS_MORE(z, n, unused)                                             \
  template <class T>                                                             \
  inline constexpr bool has_more<T, n> = requires {                              \
    T{BOOST_PP_ENUM_##z(n, RONDO_NO_VALUE, ~) BOOST_PP_COMMA_IF(n) any_value{}}; \
  }                                                                              \
  || requires { T{BOOST_PP_ENUM_##z(n, RONDO_NO_VALUE, ~) BOOST_PP_COMMA_IF(n) any_reference{}}; };
BOOST_PP_REPEAT_FROM_TO(0, 33, RONDO_HAS_MORE, ~)
#undef RONDO_HAS_MORE

template <class T, std::size_t Count = 0>
constexpr std::size_t count_members() {
  if constexpr (Count < 33 && has_members<T, Count + 1>)
    return count_members<T, Count + 1>();
  else
    return Count;
}

template <class T>
constexpr bool holds_address();

template <class T, std::size_t Count>
inline constexpr bool is_array_holding_address<std::array<T, Count>> = holds_address<T>();

template <class... Members>
constexpr bool one_holds_address() {
  return (holds_address<Members>() || ...);
}

/// Precondition: T is an aggregate with `Count` members, and has no base. Never called.
template <std::size_t Count, class T>
constexpr auto members_of(T& of) {
  static_cast<void>(of);
#define RONDO_MEMBER_TYPE(z, n, unused) decltype(m##n)
#define RONDO_MEMBERS(z, n, unused)                                                               \
  if constexpr (Count == n) {                                                                     \
    auto& [BOOST_PP_ENUM_PARAMS_Z(z, n, m)] = of;                                                 \
    return std::bool_constant<one_holds_address<BOOST_PP_ENUM_##z(n, RONDO_MEMBER_TYPE, ~)>()>{}; \
  } else
  BOOST_PP_REPEAT_FROM_TO(1, 33, RONDO_MEMBERS, ~)
  return std::false_type{};
#undef RONDO_MEMBERS
#undef RONDO_MEMBER_TYPE
}
#undef RONDO_NO_VALUE

template <class T>
constexpr bool holds_address() {
  if constexpr (std::is_reference_v<T>) {
    return true;
  } else {
    using element = std::remove_cv_t<std::remove_all_extents_t<T>>;
    if constexpr (std::is_pointer_v<element> || std::is_member_pointer_v<element>) {
      return true;
    } else if constexpr (is_tuple_like<element>) {
      return is_array_holding_address<element>;
    } else if constexpr (std::is_class_v<element> && std::is_aggregate_v<element> && !has_base<element>) {
      constexpr auto count = count_members<element>();
      if constexpr (count < 33 && has_more<element, count>)
        return true;  // a reference, for example
      else
        return decltype(members_of<count>(std::declval<element&>()))::value;
    } else {
      return false;
    }
  }
}

}  // namespace rondo::detail
