#include "runtime/profile.hpp"

#include <fmt/format.h>

namespace rondo {

std::string to_text(operation_costs const& costs) {
  auto const us = [](std::chrono::nanoseconds t) { return static_cast<double>(t.count()) / 1e3; };
  return fmt::format(
      "median {:.1f} us ({:.1f} to {:.1f}, {} times); buffers {:+} B host, {:+} B device; copies {} down, {} "
      "up",
      us(costs.median()), us(costs.fastest()), us(costs.slowest()), costs.times.size(), costs.host_bytes,
      costs.device_bytes, costs.copies.to_device, costs.copies.to_host);
}

}  // namespace rondo
