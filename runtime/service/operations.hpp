// Requests to the service itself: launch, control, find, list, inspect, describe, watch, checkpoint, traces.
#pragma once

#include <memory>

#include "runtime/service/session.hpp"

namespace rondo::service {

/// Carries out any request except `hello` and `send`. `client` responds once, from any thread.
void operate(service_core& core, std::shared_ptr<session> const& client, wire::request const& request);

}  // namespace rondo::service
