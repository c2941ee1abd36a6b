#include "runtime/observe/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "runtime/observe/trace_attributes.hpp"
#include "runtime/text/json_string.hpp"

namespace rondo {

namespace {

constexpr std::uint32_t host_process = 1;

std::string_view short_name(std::string_view qualified) {
  return qualified.substr(qualified.find_last_of(":.") + 1);  // the whole name if there is neither
}

/// The details of a bar, as a JSON object.
std::string details_of(trace_hop const& h, std::vector<std::string> const& devices) {
  auto text = fmt::format(R"({{"trace_id": "{}", "span_id": "{}")", trace_id_text(h.trace),
                          span_id_text(h.hop, h.attempt));
  for (auto const& a : trace_attributes(h, devices)) {
    auto const* const number = std::get_if<std::uint64_t>(&a.value);
    text += fmt::format(
        R"(, "{}": {})", a.name,
        number != nullptr ? fmt::to_string(*number) : json_string(std::get<std::string>(a.value)));
  }
  return text + "}";
}

/// The position of a hop in the picture.
struct track {
  std::uint32_t process = 0, thread = 0;
};

class drawing {
 public:
  drawing(std::vector<trace_hop> const& hops, std::vector<std::string> const& devices) : devices_(devices) {
    if (hops.empty()) return;
    begin_ns_ = std::ranges::min(hops, {}, &trace_hop::sent_ns).sent_ns;
    std::vector<trace_hop const*> order;
    for (auto const& h : hops) order.push_back(&h);
    std::ranges::stable_sort(order, {}, [](trace_hop const* h) { return h->begun_ns; });
    for (auto const* h : order) by_hop_[{h->trace, h->hop}] = {h, track_of(*h)};
    for (auto const* h : order) draw(*h, by_hop_.at({h->trace, h->hop}).at);
  }

  std::string text() const {
    return fmt::format("{{\"displayTimeUnit\": \"ns\", \"traceEvents\": [{}\n]}}\n", events_);
  }

 private:
  struct drawn {
    trace_hop const* hop = nullptr;
    track at;
  };

  template <class... Args>
  void add(fmt::format_string<Args...> form, Args&&... args) {
    events_ += events_.empty() ? "\n" : ",\n";
    fmt::format_to(std::back_inserter(events_), form, std::forward<Args>(args)...);
  }
  /// Microseconds since the first event.
  double us(std::uint64_t ns) const {
    return ns < begin_ns_ ? 0 : static_cast<double>(ns - begin_ns_) / 1000;
  }

  track track_of(trace_hop const& h) {
    track at;
    if (h.on_host) {
      at = {host_process, free_lane(h)};
      name(at, "host", fmt::format("calls {}", at.thread));
    } else {
      at = {host_process + 1 + device_of(h.actor), cell_of(h.actor) + 1};
      name(at, device_of_hop(h, devices_), destination_of(h));
    }
    return at;
  }
  /// Calls may overlap, but the bars of one track must not: finds the first track that is free. Precondition: hops come
  /// in the order in which they began.
  std::uint32_t free_lane(trace_hop const& h) {
    for (; !busy_lanes_.empty() && busy_lanes_.begin()->first <= h.begun_ns;
         busy_lanes_.erase(busy_lanes_.begin()))
      free_lanes_.insert(busy_lanes_.begin()->second);
    if (free_lanes_.empty()) free_lanes_.insert(static_cast<std::uint32_t>(busy_lanes_.size()) + 1);
    auto const lane = free_lanes_.extract(free_lanes_.begin()).value();
    busy_lanes_.emplace(h.ended_ns, lane);
    return lane;
  }
  void name(track at, std::string_view process, std::string_view thread) {
    if (named_.insert({at.process, 0}).second)
      add(R"({{"ph": "M", "name": "process_name", "pid": {}, "args": {{"name": {}}}}})", at.process,
          json_string(process));
    if (named_.insert({at.process, at.thread}).second)
      add(R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": {}}}}})", at.process,
          at.thread, json_string(thread));
  }

  void draw(trace_hop const& h, track at) {
    auto const message =
        h.message.empty() ? fmt::format("type {:#x}", h.type) : std::string(short_name(h.message));
    auto const title = h.on_host   ? fmt::format("{} -> {}", message, destination_of(h))
                       : h.handled ? message
                                   : fmt::format("{}: {}", message, name_of(h.outcome));
    auto const args = details_of(h, devices_);
    if (h.handled)
      add(R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, "args": {}}})",
          h.on_host ? "send" : "process", json_string(title), at.process, at.thread, us(h.begun_ns),
          std::max(us(h.ended_ns) - us(h.begun_ns), 0.001), args);
    else
      add(R"({{"ph": "i", "s": "t", "cat": "process", "name": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "args": {}}})",
          json_string(title), at.process, at.thread, us(h.ended_ns), args);
    auto const parent = by_hop_.find({h.trace, h.parent});
    if (h.parent == 0 || parent == by_hop_.end()) return;
    auto const& from = parent->second;
    // Clamped to its source's bar: otherwise the arrow would start at the neighbouring bar.
    auto const sent =
        std::clamp(h.sent_ns, from.hop->begun_ns, std::max(from.hop->begun_ns, from.hop->ended_ns));
    ++arrows_;
    add(R"({{"ph": "s", "cat": "message", "name": {}, "id": {}, "pid": {}, "tid": {}, "ts": {:.3f}}})",
        json_string(message), arrows_, from.at.process, from.at.thread, us(sent));
    add(R"({{"ph": "f", "bp": "e", "cat": "message", "name": {}, "id": {}, "pid": {}, "tid": {}, "ts": {:.3f}}})",
        json_string(message), arrows_, at.process, at.thread, us(h.handled ? h.begun_ns : h.ended_ns));
  }

  std::vector<std::string> const& devices_;
  std::uint64_t begin_ns_ = 0;
  std::map<std::pair<std::uint64_t, std::uint32_t>, drawn> by_hop_;  // by trace and hop
  std::multimap<std::uint64_t, std::uint32_t> busy_lanes_;  // tracks of calls, by when each becomes free
  std::set<std::uint32_t> free_lanes_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> named_;
  std::uint32_t arrows_ = 0;
  std::string events_;
};

}  // namespace

std::string chrome_trace(std::vector<trace_hop> const& hops, std::vector<std::string> const& devices) {
  return drawing(hops, devices).text();
}

}  // namespace rondo
