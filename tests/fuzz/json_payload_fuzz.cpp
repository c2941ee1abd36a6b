// Fuzzes message payloads: as JSON text, and as the bytes that an actor may have written. The first byte chooses the
// type.
#include <string_view>

#include "tests/fuzz/fuzz_target.hpp"
#include "tests/service/known_schemas.hpp"

using rondo::service::payload_error;

namespace {

auto const known = rondo_test::known_schemas();
auto const types = known.names();

void from_text(std::string_view type, std::string_view text) {
  try {
    auto const bytes = known.to_bytes(type, text);
    rondo_fuzz::require(known.to_bytes(type, known.to_json(type, bytes)) == bytes,
                        "bytes that came from JSON are the same after JSON");
  } catch (payload_error const&) {
  }
  try {
    auto const bytes = rondo::service::bytes_from_hex(text);
    rondo_fuzz::require(rondo::service::bytes_from_hex(rondo::service::bytes_to_hex(bytes)) == bytes,
                        "bytes are the same after hexadecimal digits");
  } catch (payload_error const&) {
  }
}

/// The bytes may differ, because padding, flags and NaN are normalised, but the text is the same.
void from_bytes(std::string_view type, std::span<std::byte const> bytes) {
  auto const text = known.to_json(type, bytes);
  rondo_fuzz::require(known.to_json(type, known.to_bytes(type, text)) == text,
                      "what to_json writes is read back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  auto const type = types[*data % types.size()];
  std::span<std::byte const> const rest = std::as_bytes(std::span(data, size)).subspan(1);
  from_text(type, {reinterpret_cast<char const*>(rest.data()), rest.size()});
  if (rest.size() >= known.find(type).bytes) from_bytes(type, rest.first(known.find(type).bytes));
  return 0;
}
