#include "runtime/lifecycle.hpp"

#include "runtime/core/actor_control.hpp"

namespace rondo {

void detail::start_control(messenger& home, actor_id actor, control_bits bits, inspection_handler handler) {
  home.control().start(actor, bits, std::move(handler));
}

}  // namespace rondo
