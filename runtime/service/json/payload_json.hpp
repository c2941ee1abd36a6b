// Converts a payload between bytes and JSON, by its layout; used by message_schemas.
//
// Threads: any; no state.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/service/json/struct_layout.hpp"

namespace rondo::service {

/// Throws payload_error.
std::vector<std::byte> payload_from_json(struct_layout const& type, std::string_view json);
/// Precondition: `bytes` has the size of the type.
std::string payload_to_json(struct_layout const& type, std::span<std::byte const> bytes);

}  // namespace rondo::service
