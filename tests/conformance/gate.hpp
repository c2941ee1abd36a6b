// A gate that holds handlers of the conformance suite.
#pragma once

#include "kernels/base/park.hpp"
#include "tests/conformance/in_reach.hpp"

namespace conformance {

/// Holds a handler until a test opens it.
struct gate {
  word entered{};
  word is_open{};

  RONDO_HD void pass() noexcept {
    entered.fetch_add(1, rondo::memory_order::release);
    while (is_open.load(rondo::memory_order::acquire) == 0) rondo::yield_thread();
  }
};

}  // namespace conformance
