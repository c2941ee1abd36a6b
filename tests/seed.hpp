// The seed of a randomised test: RONDO_SEED if it is set, otherwise a new one; prints it in both cases.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace rondo_test {

inline std::uint64_t seed_of(char const* test) {
  auto const* const given = std::getenv("RONDO_SEED");
  std::uint64_t const seed = given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  std::printf("%s: RONDO_SEED=%llu\n", test, static_cast<unsigned long long>(seed));
  return seed;
}

}  // namespace rondo_test
