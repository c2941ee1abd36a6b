// How often a test repeats what it does: a few times in ctest, and many times in tools/nightly.
#pragma once

#include <cstdlib>

namespace rondo_test {

/// `many` if RONDO_LONG_TESTS is set in the environment, as tools/nightly sets it.
inline int times(int few, int many) { return std::getenv("RONDO_LONG_TESTS") != nullptr ? many : few; }

}  // namespace rondo_test
