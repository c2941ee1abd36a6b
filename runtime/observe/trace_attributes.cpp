#include "runtime/observe/trace_attributes.hpp"

#include <fmt/format.h>

namespace rondo {

std::vector<trace_attribute> trace_attributes(trace_hop const& h, std::vector<std::string> const& devices) {
  std::string const operation = h.on_host ? "send" : "process";
  std::vector<trace_attribute> all{{"messaging.system", "rondo"},
                                   {"messaging.operation.name", operation},
                                   {"messaging.operation.type", operation},
                                   {"messaging.destination.name", destination_of(h)}};
  if (h.bytes != 0) all.push_back({"messaging.message.body.size", std::uint64_t{h.bytes}});
  if (h.outcome != errc::ok) all.push_back({"error.type", name_of(h.outcome)});
  all.push_back(
      {"messaging.rondo.message.type", h.message.empty() ? fmt::format("{:#x}", h.type) : h.message});
  all.push_back({"messaging.rondo.message.priority", std::uint64_t{h.priority}});
  all.push_back({"messaging.rondo.destination.device", device_of_hop(h, devices)});
  if (h.on_host) return all;
  all.push_back({"messaging.rondo.destination.team", std::uint64_t{h.team}});
  all.push_back({"messaging.rondo.message.attempt", std::uint64_t{h.attempt} + 1});
  all.push_back({"messaging.rondo.message.waited_ns",
                 h.begun_ns > h.sent_ns ? h.begun_ns - h.sent_ns : std::uint64_t{0}});
  return all;
}

std::string destination_of(trace_hop const& h) {
  return h.actor_name.empty() ? fmt::format("#{}", h.actor.index) : h.actor_name;
}

std::string device_of_hop(trace_hop const& h, std::vector<std::string> const& devices) {
  auto const device = device_of(h.actor);
  return device < devices.size() ? devices[device] : fmt::format("device {}", device);
}

std::string trace_id_text(std::uint64_t trace) { return fmt::format("{:032x}", trace); }

std::string span_id_text(std::uint32_t hop, std::uint8_t attempt) {
  return fmt::format("{:08x}{:08x}", attempt, hop);
}

}  // namespace rondo
