// The seed of a randomised test: RONDO_SEED if it is set, else a new one; printed either way.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

inline std::uint64_t buffer_test_seed(char const* test) {
  auto const* const given = std::getenv("RONDO_SEED");
  std::uint64_t const seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("%s: RONDO_SEED=%llu\n", test, static_cast<unsigned long long>(seed));
  return seed;
}
