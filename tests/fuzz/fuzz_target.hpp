// What a fuzzer calls, once for each input: libFuzzer (tools/fuzz), or replay.cpp, which any compiler builds.
//
// A target takes every input, catches only what its parser is documented to throw, and ends the process (require) when
// the parser breaks another promise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

namespace rondo_fuzz {

inline void require(bool holds, char const* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

}  // namespace rondo_fuzz
