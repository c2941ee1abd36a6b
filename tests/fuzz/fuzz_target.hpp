// The function that a fuzzer calls once for each input: libFuzzer (tools/fuzz), or replay.cpp, which any compiler
// builds.
//
// A target accepts every input, catches only the exceptions that its parser documents, and aborts the process (require)
// if the parser breaks another promise.
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
