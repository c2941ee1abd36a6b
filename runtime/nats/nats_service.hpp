// The NATS bridge of a service: its actors answer requests from NATS, and its durable actors take stored messages.
//
// Requests: nats_requests.hpp; any number of processes with one service name share them. Durable actors:
// durable_intake.hpp; their consumer and checkpoint belong to one process. A service without durable actors does not
// need JetStream.
//
// `rondo serve` uses it with `nats` or --nats. In a program of your own:
//
//   return rondo::serve_main(argc, argv, rondo::use<my_module>, {my_schema()}, rondo::service::make_nats_service);
#pragma once

#include "runtime/service/bridge.hpp"

namespace rondo::service {

/// A bridge_maker. `start` waits for the server for config.nats_wait, then throws nats_error. If the connection is lost
/// later, the bridge reconnects, for as long as it takes; both are logged.
std::unique_ptr<bridge> make_nats_service(bridge_parts parts);

}  // namespace rondo::service
