// A message that has been sent but not yet accepted.
#pragma once

#include "kernels/base/message.hpp"

namespace rondo {

struct outgoing {
  actor_id to;
  message body;
};

}  // namespace rondo
