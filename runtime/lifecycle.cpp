#include "runtime/lifecycle.hpp"

#include "runtime/core/runtime_core.hpp"

namespace rondo {

void detail::start_control(runtime_core& core, actor_id actor, control_bits bits,
                           inspection_handler handler) {
  core.control.start(actor, bits, std::move(handler));
}

own_threads const* threads_of(runtime_core const* core) noexcept { return &core->threads; }

}  // namespace rondo
