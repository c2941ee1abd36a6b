// A message that has been sent but not yet accepted, and the rejection of a request.
#pragma once

#include "kernels/link/device_event.hpp"

namespace rondo {

struct outgoing {
  actor_id to;
  message body;
};

/// What the asker of this request gets instead of an answer. Precondition: the asker is an actor.
inline message rejection_of(message_header const& request, errc why) noexcept {
  message answer;
  answer.header.type = type_id<rejected>;
  answer.header.correlation = request.correlation;
  answer.header.flags = flag_is_reply;
  rejected const body{why, request.type};
  answer.bytes = sizeof body;
  __builtin_memcpy(answer.payload, &body, sizeof body);
  return answer;
}

}  // namespace rondo
