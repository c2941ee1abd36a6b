// Fuzzes binary schemas from another process: each is refused, or works with every operation on schemas.
#include <string>

#include "runtime/service/json/message_schemas.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/service/example_payload.hpp"

using namespace rondo::service;
using rondo::schema_error;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  message_schemas known;
  auto const schema = std::as_bytes(std::span(data, size));
  try {
    known.add(schema);
  } catch (schema_error const&) {
    rondo_fuzz::require(known.names().empty(), "nothing is learned from a schema that is refused");
    return 0;
  }
  known.add(schema);
  for (auto const type : known.names()) {
    rondo_fuzz::require(!known.describe(type).empty(), "a type has a description");
    auto const bytes = known.to_bytes(type, rondo_test::example_of(known, type));
    rondo_fuzz::require(bytes.size() == known.find(type).bytes, "a payload has the type's size");
    rondo_fuzz::require(known.to_bytes(type, known.to_json(type, bytes)) == bytes,
                        "JSON keeps an example's bytes");
  }
  return 0;
}
