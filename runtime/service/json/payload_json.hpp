// Converts a payload between bytes and JSON, by its layout; used by message_schemas.
//
// Threads: any; no state.
#pragma once

#include <boost/mp11/algorithm.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/schema/struct_layout.hpp"

namespace rondo::service {

/// Calls use(Number{}) with the type that stores this kind, which is neither boolean nor nested.
template <class Use>
auto with_number(field_kind kind, Use use) {
  using namespace boost::mp11;
  using types = mp_list<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                        std::int64_t, std::uint64_t, float, double>;  // as in field_kind
  return mp_with_index<mp_size<types>>(static_cast<std::size_t>(kind) - 1,
                                       [&](auto i) { return use(mp_at<types, decltype(i)>{}); });
}

/// Throws payload_error.
std::vector<std::byte> payload_from_json(struct_layout const& type, std::string_view json);
/// Precondition: `bytes` has the size of the type.
std::string payload_to_json(struct_layout const& type, std::span<std::byte const> bytes);

}  // namespace rondo::service
