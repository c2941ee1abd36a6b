// Fuzzes configuration files: an accepted configuration is valid, everything else is a config_error.
#include <string>

#include "runtime/base/config.hpp"
#include "tests/fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text(reinterpret_cast<char const*>(data), size);
  try {
    rondo::validate(rondo::parse_config(text, "fuzz.json"));
  } catch (rondo::config_error const& e) {
    rondo_fuzz::require(e.what()[0] != '\0', "a refusal says why");
  }
  return 0;
}
