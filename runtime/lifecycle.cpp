#include "runtime/lifecycle.hpp"

#include "runtime/core/runtime_core.hpp"

namespace rondo::detail {

void start_control(runtime_core& core, actor_id actor, control_bits bits, answer_handler handler) {
  core.control.start(actor, bits, std::move(handler));
}

void start_inspection(runtime_core& core, actor_id actor, inspection_handler handler) {
  core.control.inspect(actor, std::move(handler));
}

}  // namespace rondo::detail
