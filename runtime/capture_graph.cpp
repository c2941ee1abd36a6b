#include "runtime/capture_graph.hpp"

#include <fmt/format.h>

#include "runtime/core/runtime_core.hpp"

namespace rondo {

void detail::capture_graph(runtime& rt, std::string actor, std::uint32_t device, std::size_t request_bytes,
                           std::size_t reply_bytes,
                           std::function<void(stream&, std::byte const*, std::byte*)> const& work) {
  auto& core = rt.core();
  if (device >= core.devices().size())
    throw std::invalid_argument(
        fmt::format("capturing a graph for '{}': there is no device {}; this runtime has {}, counted from 0",
                    actor, device, core.devices().size()));
  core.captures().capture({std::move(actor), static_cast<std::uint32_t>(request_bytes),
                           static_cast<std::uint32_t>(reply_bytes), work},
                          core.devices()[device].dev->captures(), core.memory(device));
}

}  // namespace rondo
