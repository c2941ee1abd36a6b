// Requests to the service itself: launch, control, find, list, inspect, describe, watch, checkpoint.
#pragma once

#include <memory>

#include "runtime/service/session.hpp"

namespace rondo::service {

/// Carries out any request but `hello` and `send`, and has `client` respond once, from whatever thread.
void operate(service_core& core, std::shared_ptr<session> const& client, wire::request const& request);

}  // namespace rondo::service
