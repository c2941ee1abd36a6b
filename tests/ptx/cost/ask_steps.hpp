// The steps of an ask by the device's own clock: what bench_gpu's case gpu_ask_steps measures on a GPU, predicted.
#pragma once

#include <array>
#include <string>

#include "bench/gpu/ask_steps.hpp"
#include "tests/ptx/cost/costs.hpp"
#include "tests/ptx/machine/ptx_module.hpp"

namespace ptx_cost {

/// Medians, in nanoseconds.
struct ask_steps_summary {
  std::array<double, rondo::bench::gpu::step_pong::steps> step_ns{};
  double whole_ns = 0;  // the round trip that the host sees

  /// "look 1000, guards 200, ..., bus and host 2000 of 5000".
  std::string text() const;
};

/// `code`: of tests/ptx/cost/ask_steps.cu. Throws std::runtime_error if an ask passes its points in another order.
ask_steps_summary predict_ask_steps(ptx::module const& code, costs const& c, std::uint32_t samples,
                                    std::uint64_t seed);

}  // namespace ptx_cost
