// The NATS side of a service: its actors answer requests there, and its durable ones take stored messages.
//
// For requests see nats_requests.hpp, which any number of services of one name share; for durable actors, whose consumer and
// checkpoint belong to one process, durable_intake.hpp. A service without durable actors needs no JetStream.
//
// What `rondo serve` does with `nats` or --nats; a program of its own:
//
//   return rondo::serve_main(argc, argv, rondo::use<my_module>, {my_schema()}, rondo::service::make_nats_service);
#pragma once

#include "runtime/service/bridge.hpp"

namespace rondo::service {

/// A bridge_maker. `start` waits for the server for config.nats_wait, and throws nats_error. When the server goes later, its
/// return is waited for, as long as it takes; both are logged.
std::unique_ptr<bridge> make_nats_service(bridge_parts parts);

}  // namespace rondo::service
