// The schemas of the tests of JSON payloads: the built-in module's messages, and the golden schema with every shape of
// struct.
#pragma once

#include "generated/basics_schema.hpp"
#include "generated/golden_schema.hpp"
#include "runtime/service/json/message_schemas.hpp"

namespace rondo_test {

inline rondo::service::message_schemas known_schemas() {
  rondo::service::message_schemas known;
  known.add(rondo::generated::basics_schema(), "basics.fbs");
  known.add(rondo::generated::golden_schema(), "golden.fbs");
  return known;
}

template <class Bytes>
std::span<std::byte const> bytes_of(Bytes const& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace rondo_test
