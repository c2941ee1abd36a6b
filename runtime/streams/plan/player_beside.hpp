// The GPU that plays kernels beside a device of a runtime (docs/fallback.md).
#pragma once

#include "runtime/core/runtime_core.hpp"
#include "runtime/memory/buffer_pool.hpp"
#include "runtime/player/kernel_player.hpp"
#include "runtime/runtime.hpp"

namespace rondo::streams {

/// Null: none does, or the device has its own memory. It lives as long as the runtime.
inline kernel_player* player_beside(runtime& rt, std::uint32_t device) noexcept {
  return rt.buffers(device).home() == nullptr ? rt.core().player() : nullptr;
}

}  // namespace rondo::streams
