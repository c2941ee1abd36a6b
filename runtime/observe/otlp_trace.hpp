// Traces as OTLP/JSON, the format of OpenTelemetry's collectors: `resourceSpans` with one span per hop.
//
// A call of the program is a span `send ACTOR` of kind PRODUCER; a message at an actor is a span `process ACTOR` of
// kind CONSUMER, below the span whose handler sent it. Attributes: trace_attributes.hpp.
// Source: opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding".
#pragma once

#include <string>
#include <vector>

#include "runtime/messaging/trace_log.hpp"

namespace rondo {

/// What a file says besides its spans.
struct otlp_options {
  std::string service_name = "rondo";  // service.name of the resource
  std::uint64_t unix_offset_ns = 0;    // see runtime/os/clock.hpp
};

/// `devices`: their names, indexed by device_of an actor's id.
std::string otlp_trace(std::vector<trace_hop> const& hops, std::vector<std::string> const& devices,
                       otlp_options const& options);

}  // namespace rondo
