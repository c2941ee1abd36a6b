// Fuzzes files of readings: whatever is accepted has finite values, each of one sensor; everything else is a
// input_error.
#include <cmath>
#include <string>

#include "actors/workloads/readings.hpp"
#include "tests/fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace rondo::workloads;
  std::string const text(reinterpret_cast<char const*>(data), size);
  try {
    auto const all = parse_readings(text, "fuzz.csv");
    std::uint64_t count = 0;
    for (std::uint32_t s = 0; s < all.sensors(); ++s) {
      rondo_fuzz::require(!all.of(s).empty(), "each sensor has a reading");
      for (auto const value : all.of(s)) rondo_fuzz::require(std::isfinite(value), "readings are numbers");
      count += all.of(s).size();
    }
    rondo_fuzz::require(count == all.values.size(), "each reading is of one sensor");
  } catch (input_error const& e) {
    rondo_fuzz::require(e.what()[0] != '\0', "a refusal says why");
  }
  try {
    static_cast<void>(parse_random_readings(text));
  } catch (input_error const&) {
  }
  return 0;
}
