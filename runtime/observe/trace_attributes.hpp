// Attributes of a hop in a trace, by the names of OpenTelemetry's semantic conventions for messaging, and, for what
// these do not have, by names of our own below `messaging.rondo`.
// Source: opentelemetry.io/docs/specs/semconv/messaging/messaging-spans.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/messaging/trace_log.hpp"

namespace rondo {

/// One name and its value.
struct trace_attribute {
  std::string_view name;                           // such as `messaging.system`
  std::variant<std::string, std::uint64_t> value;  // a text or a number
};

/// `devices`: their names, indexed by device_of an actor's id.
std::vector<trace_attribute> trace_attributes(trace_hop const& h, std::vector<std::string> const& devices);

/// The actor's name; "#7" if it has none.
std::string destination_of(trace_hop const& h);
/// The name of the device where the actor lives.
std::string device_of_hop(trace_hop const& h, std::vector<std::string> const& devices);

/// 32 hexadecimal digits; ours have 16 zeros in front.
std::string trace_id_text(std::uint64_t trace);
/// 16 hexadecimal digits, unique in their trace: each attempt at a message has its own.
std::string span_id_text(std::uint32_t hop, std::uint8_t attempt);

}  // namespace rondo
