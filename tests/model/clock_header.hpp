// Replaces now_ns of kernels/base/clock.hpp by virtual time.
#pragma once

#include "tests/model/execution.hpp"

namespace rondo {

inline std::uint64_t now_ns() noexcept {
  auto* const x = model::execution::current();
  return x == nullptr ? 1'000'000 : x->now_ns();
}

}  // namespace rondo
