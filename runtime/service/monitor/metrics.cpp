#include "runtime/service/monitor/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "kernels/base/counters.hpp"
#include "runtime/service/monitor/graph_metrics.hpp"
#include "runtime/service/monitor/metric_text.hpp"

namespace rondo::service {

namespace {

constexpr double ns = 1e-9;
constexpr std::string_view other = "other";

/// One series: an actor, or the sum of those beyond the limit.
struct actor_line {
  std::string_view name, behaviour;
  std::string device;
  std::uint64_t accepted = 0, handled = 0, rejected = 0, dead = 0, failures = 0;
  std::uint64_t waiting = 0, capacity = 0, peak_depth = 0;
  double running_seconds = 0;
  double latency_seconds = 0;
  std::vector<std::uint64_t> latencies{};
};

constexpr auto sum = [](auto& to, auto value) { to += value; };

void add(actor_line& to, reports::actorT const& a) {
  each_outcome(sum, to, a);
  to.waiting += a.waiting;
  to.capacity += a.capacity;
  to.peak_depth = std::max<std::uint64_t>(to.peak_depth, a.peak_depth);
  if (a.running)
    to.running_seconds = std::max(to.running_seconds, static_cast<double>(a.running->for_ns) * ns);
  to.latency_seconds += static_cast<double>(a.latency_sum_ns) * ns;
  for (std::size_t b = 0; b < std::min(to.latencies.size(), a.latency_counts.size()); ++b)
    to.latencies[b] += a.latency_counts[b];
}

std::vector<actor_line> lines_of(report const& r, std::size_t limit) {
  std::vector<reports::actorT const*> actors;
  for (auto const& a : r.actors) actors.push_back(a.get());
  std::ranges::sort(actors, {}, &reports::actorT::index);
  std::vector<actor_line> lines;
  actor_line rest{.name = other, .behaviour = other, .device = std::string(other)};
  rest.latencies.resize(r.latency_floors_ns.size());
  bool has_rest = false;
  // No two series may have the same labels, whatever actors are called.
  std::set<std::tuple<std::string_view, std::string_view, std::uint32_t>> taken;
  for (auto const* const a : actors) {
    bool const own = lines.size() < limit && !a->name.empty() && a->name != other &&
                     taken.emplace(a->name, a->behaviour, a->device).second;
    if (own)
      lines.push_back({.name = a->name,
                       .behaviour = a->behaviour,
                       .device = std::to_string(a->device),
                       .latencies = std::vector<std::uint64_t>(r.latency_floors_ns.size())});
    add(own ? lines.back() : rest, *a);
    has_rest |= !own;
  }
  if (has_rest) lines.push_back(std::move(rest));
  return lines;
}

void write_latencies(metric_text& to, std::vector<actor_line> const& lines,
                     std::vector<std::uint64_t> const& floors) {
  to.family(
      "rondo_actor_latency_seconds", "histogram",
      "Time from sending a message to the end of its handler, for sampled messages (latency_sample_every). "
      "Bounds are exclusive.");
  for (auto const& a : lines) {
    std::uint64_t seen = 0;
    for (std::size_t b = 0; b < a.latencies.size() && b < floors.size(); ++b) {
      // Bounds: the powers of two from a microsecond to a quarter of a second, which are exact bounds of buckets.
      if (auto const floor = floors[b];
          floor >= 1ull << 10 && floor <= 1ull << 28 && (floor & (floor - 1)) == 0)
        to.sample({{"actor", a.name},
                   {"behaviour", a.behaviour},
                   {"device", a.device},
                   {"le", fmt::format("{}", static_cast<double>(floor) * ns)}},
                  seen, "_bucket");
      seen += a.latencies[b];
    }
    to.sample({{"actor", a.name}, {"behaviour", a.behaviour}, {"device", a.device}, {"le", "+Inf"}}, seen,
              "_bucket");
    to.sample({{"actor", a.name}, {"behaviour", a.behaviour}, {"device", a.device}}, a.latency_seconds,
              "_sum");
    to.sample({{"actor", a.name}, {"behaviour", a.behaviour}, {"device", a.device}}, seen, "_count");
  }
}

void write_actors(metric_text& to, report const& r, std::size_t limit) {
  auto const lines = lines_of(r, limit);
  auto const each = [&](char const* name, char const* type, char const* help, auto value) {
    to.family(name, type, help);
    for (auto const& a : lines)
      to.sample({{"actor", a.name}, {"behaviour", a.behaviour}, {"device", a.device}}, a.*value);
  };
  each("rondo_actor_accepted_total", "counter", "Messages accepted by the mailbox.", &actor_line::accepted);
  each("rondo_actor_handled_total", "counter", "Messages handled.", &actor_line::handled);
  each("rondo_actor_rejected_total", "counter",
       "Accepted messages that were not handled but answered with a reason.", &actor_line::rejected);
  each("rondo_actor_dead_total", "counter", "Messages that became dead letters.", &actor_line::dead);
  each("rondo_actor_failures_total", "counter", "Handlers that failed.", &actor_line::failures);
  each("rondo_actor_waiting_messages", "gauge", "Messages in the mailbox.", &actor_line::waiting);
  each("rondo_actor_capacity_messages", "gauge", "Capacity of the mailbox.", &actor_line::capacity);
  each("rondo_actor_peak_depth_messages", "gauge", "Most messages ever seen in the mailbox.",
       &actor_line::peak_depth);
  each("rondo_actor_running_seconds", "gauge",
       "How long its current handler has run at least: since a report first saw it; 0: none is running.",
       &actor_line::running_seconds);
  write_latencies(to, lines, r.latency_floors_ns);

  std::map<std::string_view, std::uint64_t> states;
  for (auto const* const name : {"active", "launched", "deactivated", "terminating", "discarding", "failed"})
    states[name] = 0;
  for (auto const& a : r.actors) ++states[a->state];
  to.family("rondo_actors", "gauge", "Actors by state.");
  for (auto const& [state, count] : states) to.sample({{"state", state}}, count);
  to.gauge("rondo_actors_limit", "Most actors at once.", r.actor_limit);
}

void write_totals(metric_text& to, report const& r) {
  auto all = *r.live;
  each_outcome(sum, all, *r.retired);
  to.counter("rondo_messages_accepted_total",
             "Messages accepted by mailboxes, of all actors since the start.", all.accepted);
  to.counter("rondo_messages_handled_total", "Messages handled.", all.handled);
  to.counter("rondo_messages_rejected_total",
             "Accepted messages that were not handled but answered with a reason.", all.rejected);
  to.counter("rondo_messages_dead_total", "Accepted messages that became dead letters.", all.dead);
  to.counter("rondo_failures_total", "Handlers that failed.", all.failures);
  to.counter("rondo_dead_letters_total", "Dead letters, including messages that no mailbox accepted.",
             r.dead_letters);
  to.counter("rondo_late_answers_total", "Replies that arrived after their ask had ended.", r.late_answers);
  to.gauge("rondo_messages_waiting", "Messages in mailboxes.", r.waiting);
  to.gauge("rondo_messages_crossing",
           "Accepted messages that wait in the host, for room or on their way to another device.",
           r.crossing);
  to.gauge("rondo_asks_waiting", "Asks waiting for a reply.", r.asks_waiting);
  to.gauge("rondo_asks_limit", "Most asks that can wait at once.", r.ask_limit);
  to.gauge("rondo_conserved",
           "1 if accepted = handled + rejected + dead + waiting; meaningful only when no message is being "
           "handled.",
           r.conserved ? 1 : 0);
}

void write_devices(metric_text& to, report const& r) {
  using line = reports::deviceT;
  auto const each = [&](char const* name, char const* type, char const* help, auto value) {
    to.family(name, type, help);
    for (std::size_t d = 0; d < r.devices.size(); ++d) {
      if constexpr (requires { value(*r.devices[d]).has_value(); }) {
        if (auto const v = value(*r.devices[d])) to.sample({{"device", std::to_string(d)}}, *v);
      } else {
        to.sample({{"device", std::to_string(d)}}, value(*r.devices[d]));
      }
    }
  };
  to.family("rondo_device_info", "gauge", "Name and description of each device; always 1.");
  for (std::size_t d = 0; d < r.devices.size(); ++d)
    to.sample({{"device", std::to_string(d)},
               {"name", r.devices[d]->name},
               {"description", r.devices[d]->description}},
              1);
  each("rondo_device_teams", "gauge", "Teams that run any actor.",
       [](line const& d) { return d.pool_teams; });
  each("rondo_device_busy_teams", "gauge", "Teams that are running a handler.",
       [](line const& d) { return std::ranges::count_if(d.teams, [](auto const& t) { return t->busy; }); });
  each("rondo_device_begun_total", "counter", "Messages whose handler has started.", [](line const& d) {
    std::uint64_t begun = 0;
    for (auto const& t : d.teams) begun += t->beats;
    return begun;
  });
  auto const of_queues = [](auto field) {
    return [field](line const& d) {
      return d.queues ? std::optional(static_cast<std::uint64_t>((*d.queues).*field)) : std::nullopt;
    };
  };
  using queues = reports::queue_pairT;
  if (std::ranges::any_of(r.devices, [](auto const& d) { return d->queues != nullptr; })) {
    each("rondo_queue_submissions_waiting", "gauge", "Submissions that the device has not read yet.",
         of_queues(&queues::submissions_waiting));
    each("rondo_queue_submission_slots", "gauge", "Capacity for submissions.",
         of_queues(&queues::submission_slots));
    each("rondo_queue_submitted_total", "counter", "Submissions to the device.",
         of_queues(&queues::submitted));
    each("rondo_queue_completed_total", "counter", "Completions from the device.",
         of_queues(&queues::completed));
  }
  using copies = reports::copiesT;
  auto const of_copies = [](auto field) { return [field](line const& d) { return (*d.transfers).*field; }; };
  each("rondo_transfers_to_device_total", "counter", "Buffer copies to the device.",
       of_copies(&copies::to_device));
  each("rondo_transfers_to_host_total", "counter", "Buffer copies to the host.", of_copies(&copies::to_host));
  each("rondo_transfer_bytes_total", "counter", "Bytes of buffer copies.", of_copies(&copies::bytes));
  each("rondo_transfer_hidden_seconds_total", "counter", "Time of buffer copies that no handler waited for.",
       [](line const& d) { return static_cast<double>(d.transfers->hidden_ns) * ns; });
}

void write_pools(metric_text& to, report const& r) {
  using pool = reports::poolT;
  auto const each = [&](char const* name, char const* type, char const* help, std::uint64_t pool::*value) {
    to.family(name, type, help);
    for (auto const& p : r.pools)
      to.sample({{"place", p->place}, {"device", p->place == "host" ? "" : std::to_string(p->device)}},
                (*p).*value);
  };
  each("rondo_pool_cap_bytes", "gauge", "Capacity of the pool.", &pool::cap_bytes);
  each("rondo_pool_in_use_bytes", "gauge", "Bytes of buffers in use.", &pool::in_use_bytes);
  each("rondo_pool_cached_bytes", "gauge", "Bytes kept for reuse.", &pool::cached_bytes);
  each("rondo_pool_peak_bytes", "gauge", "Most bytes ever in use and cached.", &pool::peak_bytes);
  each("rondo_pool_waste_bytes", "gauge", "Bytes in use beyond the requested sizes.", &pool::waste_bytes);
  each("rondo_pool_buffers", "gauge", "Buffers in use.", &pool::buffers_in_use);
  each("rondo_pool_slots", "gauge", "Most buffers at once.", &pool::slots);
  each("rondo_pool_hits_total", "counter", "Allocations served from the cache.", &pool::hits);
  each("rondo_pool_misses_total", "counter", "Allocations that claimed new memory.", &pool::misses);
  each("rondo_pool_refusals_total", "counter", "Allocations refused.", &pool::refusals);
}

void write_connections(metric_text& to, reports::clientsT const& c) {
  to.gauge("rondo_connections", "Open connections.", c.open);
  to.counter("rondo_connections_total", "Connections accepted.", c.total);
  to.family("rondo_connections_dropped_total", "counter", "Connections that the service closed or refused.");
  for (auto const& d : c.dropped) to.sample({{"reason", d->reason}}, d->connections);
  to.counter("rondo_requests_total", "Requests from clients.", c.requests);
  to.counter("rondo_responses_total", "Responses to clients.", c.responses);
  to.counter("rondo_received_bytes_total", "Bytes from clients.", c.bytes_in);
  to.counter("rondo_sent_bytes_total", "Bytes to clients.", c.bytes_out);
  to.counter("rondo_frames_refused_total", "Frames refused.", c.frames_refused);
  if (c.certificate_expires_s != 0)
    to.gauge("rondo_certificate_expiry_timestamp_seconds",
             "When the TLS certificate, or the first one of its chain, expires, in seconds since 1970.",
             c.certificate_expires_s);
}

void write_tables(metric_text& to, report const& r) {
  auto const each = [&](char const* name, char const* type, char const* help,
                        std::uint64_t reports::shared_tableT::*value) {
    to.family(name, type, help);
    for (auto const& t : r.tables) to.sample({{"table", t->name}}, (*t).*value);
  };
  using table = reports::shared_tableT;
  each("rondo_table_used", "gauge", "Places taken in a table that all clients share; docs/security.md.",
       &table::used);
  each("rondo_table_limit", "gauge", "Places in that table.", &table::limit);
  each("rondo_table_refused_total", "counter", "Requests that got no place in that table.", &table::refused);
}

void write_files(metric_text& to, reports::kept_filesT const& f) {
  to.counter("rondo_checkpoints_total", "Checkpoints written.", f.checkpoints);
  to.counter("rondo_checkpoints_failed_total",
             "Checkpoints that could not be written; the log has the reason.", f.checkpoints_failed);
  to.gauge("rondo_checkpoint_failing", "1: the last checkpoint could not be written; /readyz has the reason.",
           f.checkpoint_failing ? 1 : 0);
  to.counter("rondo_recordings_failed_total", "Recordings that ended because they could not be written.",
             f.recordings_failed);
}

void write_nats(metric_text& to, reports::nats_trafficT const& n) {
  auto const both = [&](char const* name, char const* help, std::uint64_t requests, std::uint64_t durable) {
    to.family(name, "counter", help);
    to.sample({{"kind", "request"}}, requests);
    to.sample({{"kind", "durable"}}, durable);
  };
  to.gauge("rondo_nats_connected", "1: connected to NATS; 0: waiting to reconnect.", n.connected ? 1 : 0);
  to.gauge("rondo_nats_login_refused", "1: the NATS server refuses user and password, or the token.",
           n.login_refused ? 1 : 0);
  if (n.has_durable)
    to.gauge("rondo_nats_durable_ready",
             "1: stored messages are taken; 0: they wait in their stream, and /readyz has the reason.",
             n.durable_ready ? 1 : 0);
  both("rondo_nats_messages_taken_total",
       "Messages received from NATS; each delivery of a stored one counts.", n.requests, n.durable);
  both("rondo_nats_messages_refused_total",
       "Messages from NATS that no actor handled; the reason was sent back or logged.", n.requests_refused,
       n.durable_refused);
  to.counter("rondo_nats_messages_redelivered_total",
             "Deliveries of stored messages that had been delivered before.", n.redelivered);
  to.counter("rondo_nats_messages_acknowledged_total",
             "Stored messages acknowledged to NATS: a checkpoint on disk contains their effects.",
             n.acknowledged);
}

void write_gpus(metric_text& to, report const& r) {
  auto const each = [&](char const* name, char const* help, auto field, double unit) {
    to.family(name, "gauge", help);
    for (auto const& g : r.gpus)
      if (auto const v = (*g).*field; v >= 0)
        to.sample({{"gpu", std::to_string(g->index)}, {"name", g->name}}, static_cast<double>(v) * unit);
  };
  using gpu = reports::gpuT;
  each("rondo_gpu_utilization_ratio",
       "Share of time that a kernel was running, as the driver reports it: a ring kernel always is.",
       &gpu::utilization_percent, 0.01);
  each("rondo_gpu_memory_used_bytes", "Memory in use.", &gpu::memory_used_bytes, 1);
  each("rondo_gpu_memory_bytes", "Memory.", &gpu::memory_total_bytes, 1);
  each("rondo_gpu_temperature_celsius", "Temperature.", &gpu::temperature_celsius, 1);
  each("rondo_gpu_power_watts", "Power drawn.", &gpu::power_watts, 1);
  each("rondo_gpu_pcie_received_bytes_per_second", "PCIe traffic to the GPU, measured by the driver.",
       &gpu::pcie_rx_bytes_per_second, 1);
  each("rondo_gpu_pcie_sent_bytes_per_second", "PCIe traffic from the GPU.", &gpu::pcie_tx_bytes_per_second,
       1);
}

}  // namespace

std::string to_metrics(report const& r, metrics_options const& options) {
  metric_text to;
  to.family("rondo_service_info", "gauge", "Name and incarnation of the service; always 1.");
  to.sample({{"service", r.service}, {"incarnation", std::to_string(r.incarnation)}}, 1);
  to.gauge("rondo_uptime_seconds", "Time since the service started.", static_cast<double>(r.uptime_ns) * ns);
  write_totals(to, r);
  write_actors(to, r, options.actors);
  write_devices(to, r);
  write_pools(to, r);
  if (!r.graphs.empty()) write_graphs(to, r);
  if (r.connections) write_connections(to, *r.connections);
  if (!r.tables.empty()) write_tables(to, r);
  if (r.files) write_files(to, *r.files);
  if (r.nats) write_nats(to, *r.nats);
  if (!r.gpus.empty()) write_gpus(to, r);
  return std::move(to).take();
}

}  // namespace rondo::service
