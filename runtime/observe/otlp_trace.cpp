#include "runtime/observe/otlp_trace.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <utility>

#include "runtime/observe/trace_attributes.hpp"
#include "runtime/text/clean_text.hpp"

namespace rondo {

namespace {

namespace json = boost::json;

// Values of OTLP's enums, which JSON has as numbers.
constexpr int kind_producer = 4, kind_consumer = 5, status_error = 2;

/// Numbers of 64 bits are strings in OTLP/JSON.
json::object attribute(std::string_view name, std::variant<std::string, std::uint64_t> const& value) {
  auto const* const number = std::get_if<std::uint64_t>(&value);
  return {
      {"key", name},
      {"value", number != nullptr ? json::object{{"intValue", std::to_string(*number)}}
                                  : json::object{{"stringValue", valid_utf8(std::get<std::string>(value))}}}};
}

/// A message that failed its actor has a hop for each attempt; what an attempt sent is below that attempt.
class attempts {
 public:
  explicit attempts(std::vector<trace_hop> const& hops) {
    for (auto const& h : hops) by_hop_[{h.trace, h.hop}].push_back(&h);
    for (auto& [id, all] : by_hop_) std::ranges::sort(all, {}, &trace_hop::begun_ns);
  }
  /// The span whose handler sent this; the first attempt if its hop was not kept.
  std::string parent_of(trace_hop const& h) const {
    auto const found = by_hop_.find({h.trace, h.parent});
    std::uint8_t attempt = 0;
    if (found != by_hop_.end())
      for (auto const* const one : found->second)
        if (one == found->second.front() || one->begun_ns <= h.sent_ns) attempt = one->attempt;
    return span_id_text(h.parent, attempt);
  }

 private:
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<trace_hop const*>> by_hop_;
};

}  // namespace

std::string otlp_trace(std::vector<trace_hop> const& hops, std::vector<std::string> const& devices,
                       otlp_options const& options) {
  attempts const known(hops);
  auto const unix_text = [&](std::uint64_t ns) { return std::to_string(ns + options.unix_offset_ns); };
  json::array spans;
  for (auto const& h : hops) {
    json::object span{{"traceId", trace_id_text(h.trace)}, {"spanId", span_id_text(h.hop, h.attempt)}};
    if (h.parent != 0) span["parentSpanId"] = known.parent_of(h);
    span["name"] = (h.on_host ? "send " : "process ") + valid_utf8(destination_of(h));
    span["kind"] = h.on_host ? kind_producer : kind_consumer;
    span["startTimeUnixNano"] = unix_text(h.begun_ns);
    span["endTimeUnixNano"] = unix_text(std::max(h.begun_ns, h.ended_ns));
    json::array all;
    for (auto const& a : trace_attributes(h, devices)) all.push_back(attribute(a.name, a.value));
    span["attributes"] = std::move(all);
    if (h.outcome != errc::ok)
      span["status"] = {{"code", status_error}, {"message", make_error_code(h.outcome).message()}};
    spans.push_back(std::move(span));
  }
  json::object scope{{"scope", json::object{{"name", "rondo"}}}, {"spans", std::move(spans)}};
  json::object resource{{"attributes", json::array{attribute("service.name", options.service_name)}}};
  json::object whole{{"resource", std::move(resource)}, {"scopeSpans", json::array{std::move(scope)}}};
  return json::serialize(json::object{{"resourceSpans", json::array{std::move(whole)}}}) + "\n";
}

}  // namespace rondo
