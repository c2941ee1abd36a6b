#include "runtime/service/monitor/report.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <stdexcept>
#include <unordered_map>

#include "runtime/memory/buffer_pool.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/observe/telemetry.hpp"
#include "runtime/runtime.hpp"
#include "runtime/service/net/quotas.hpp"
#include "runtime/text/clean_text.hpp"

namespace rondo::service {

struct gathered {
  std::uint64_t now_ns;
  telemetry seen;
  std::map<std::uint32_t, std::string> types;  // of messages, by id
};

namespace {

char const* name_of(failure_action action) noexcept {
  switch (action) {
    case failure_action::restarted:
      return "restarted";
    case failure_action::quarantined:
      return "quarantined";
    case failure_action::stopped:
      return "stopped";
    case failure_action::escalated:
      return "escalated";
    case failure_action::left_to_parent:
      return "left_to_parent";
  }
  return "?";
}

constexpr auto copy = [](auto& to, auto value) { to = value; };

std::string type_name_in(gathered const& from, std::uint32_t type) {
  auto const at = from.types.find(type);
  return at == from.types.end() ? fmt::format("{:#010x}", type) : at->second;
}

/// Relaxed: statistics.
std::uint64_t value(std::atomic<std::uint64_t> const& a) noexcept {
  return a.load(std::memory_order_relaxed);
}

/// Else it keeps its mail, whoever holds it.
bool takes_mail(std::string_view state) noexcept { return state != "launched" && state != "deactivated"; }

std::unique_ptr<reports::failureT> to_report(actor_failure const& f, gathered const& from) {
  auto out = std::make_unique<reports::failureT>();
  out->reason = rondo::name_of(f.reason);
  out->text = make_error_code(f.reason).message();
  if (f.type != 0) out->message = type_name_in(from, f.type);
  out->action = name_of(f.action);
  out->age_ns = from.now_ns > f.at_ns ? from.now_ns - f.at_ns : 0;
  return out;
}

std::unique_ptr<reports::totalsT> to_report(actor_totals const& t) {
  auto out = std::make_unique<reports::totalsT>();
  each_sum(copy, *out, t);
  return out;
}

std::unique_ptr<reports::poolT> to_report(char const* place, std::uint32_t device, std::uint64_t cap,
                                          buffer_pool_statistics const& s) {
  auto out = std::make_unique<reports::poolT>();
  out->place = place;
  out->device = device;
  out->cap_bytes = cap;
  out->in_use_bytes = s.in_use_bytes;
  out->cached_bytes = s.cached_bytes;
  out->peak_bytes = s.peak_bytes;
  out->waste_bytes = s.waste_bytes;
  out->buffers_in_use = s.buffers_in_use;
  out->hits = s.hits;
  out->misses = s.misses;
  out->refusals = s.refusals;
  out->slots = s.slots;
  return out;
}

std::unique_ptr<reports::queue_pairT> to_report(queue_counts const& c) {
  auto out = std::make_unique<reports::queue_pairT>();
  out->submissions_waiting = static_cast<std::uint32_t>(c.submitted - c.taken);
  out->submission_slots = c.submission_slots;
  out->submitted = c.submitted;
  out->completed = c.completed;
  out->completion_slots = c.completion_slots;
  return out;
}

std::unique_ptr<reports::copiesT> to_report(transfer_counts const& c) {
  auto out = std::make_unique<reports::copiesT>();
  out->to_device = c.to_device;
  out->to_host = c.to_host;
  out->bytes = c.bytes;
  out->batches = c.batches;
  out->hidden_ns = c.hidden_ns;
  return out;
}

void add_gpus(report& to, gpu_reading const& from) {
  to.gpus_unavailable = from.unavailable;
  for (auto const& g : from.gpus) to.gpus.push_back(std::make_unique<reports::gpuT>(g));
}

}  // namespace

reporter::reporter(runtime& rt, service_identity who, service_counters const* counters, gpu_monitor* gpus)
    : runtime_(rt),
      who_(std::move(who)),
      counters_(counters),
      gpus_(gpus),
      began_ns_(now_ns()),
      looks_(rt.device_count()) {}

report reporter::gather() {
  report r;
  add_graphs(r);  // waits for busy stages, so that all else is of the same moment
  gathered from{0, runtime_.snapshot(), {}};
  from.now_ns = now_ns();
  for (auto const& b : runtime_.behaviours())
    for (auto const& m : b.messages) from.types.emplace(m.id, m.name);
  auto const& t = from.seen;
  r.service = who_.name;
  r.incarnation = who_.incarnation;
  r.clock_ns = from.now_ns;
  auto const wall = std::chrono::system_clock::now().time_since_epoch();
  r.wall_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(wall).count());
  r.uptime_ns = from.now_ns - began_ns_;
  for (int b = 0; b < latency_histogram::buckets; ++b)
    r.latency_floors_ns.push_back(latency_histogram::floor_ns(b));
  r.actor_limit = runtime_.settings().actors;
  r.live = to_report(t.live);
  r.retired = to_report(t.retired);
  r.waiting = t.waiting;
  r.asks_waiting = t.asks_waiting;
  r.ask_limit = runtime_.settings().asks;
  r.late_answers = t.late_answers;
  r.dead_letters = t.dead_letters;
  r.crossing = t.crossing;
  r.conserved = t.conserved();
  add_actors(r, from);
  add_teams(r, from);
  add_memory(r);
  if (counters_ != nullptr) add_connections(r);
  if (nats_ != nullptr) add_nats(r);
  if (tables_ != nullptr) add_tables(r);
  if (gpus_ != nullptr) add_gpus(r, gpus_->read());
  return r;
}

void reporter::add_actors(report& to, gathered const& from) const {
  std::unordered_map<std::uint32_t, actor_options> options;
  for (auto const& e : runtime_.list()) options.emplace(e.id.index, e.options);
  for (auto const& a : from.seen.actors) {
    auto const& n = a.now.totals;
    auto out = std::make_unique<reports::actorT>();
    out->name = clean_text(a.name);
    out->behaviour = a.behaviour;
    out->device = a.device;
    out->index = a.now.index;
    out->generation = a.now.generation;
    out->state = rondo::name_of(a.now.state);
    if (auto const o = options.find(a.now.index); o != options.end()) {
      out->pinned = o->second.pinned;
      out->capacity = o->second.capacity.value_or(runtime_.settings().default_capacity);
    }
    each_sum(copy, *out, n);
    out->waiting = a.now.waiting;
    out->peak_depth = n.peak_depth;
    if (n.latency_samples != 0)  // most actors of a large runtime have none
      out->latency_counts.assign(std::begin(a.now.latency_counts), std::end(a.now.latency_counts));
    if (a.last_failure) out->last_failure = to_report(*a.last_failure, from);
    to.actors.push_back(std::move(out));
  }
}

void reporter::add_teams(report& to, gathered const& from) {
  std::unordered_map<std::uint32_t, reports::actorT*> actors;
  for (auto const& a : to.actors) actors.emplace(a->index, a.get());
  std::lock_guard lock(mutex_);
  for (std::uint32_t d = 0; d < from.seen.devices.size(); ++d) {
    auto const& device = from.seen.devices[d];
    auto out = std::make_unique<reports::deviceT>();
    out->name = device.info.name;
    out->description = device.info.description;
    out->reason = runtime_.reason(d);
    out->pool_teams = device.info.pool_teams;
    if (device.queues) out->queues = to_report(*device.queues);
    looks_[d].resize(device.teams.size());
    for (std::uint32_t i = 0; i < device.teams.size(); ++i) {
      auto const& t = device.teams[i];
      auto& last = looks_[d][i];
      if (last.actor_plus_one != t.actor_plus_one || last.beats != t.beats || last.since_ns == 0)
        last = {t.actor_plus_one, t.beats, from.now_ns};
      auto line = std::make_unique<reports::teamT>();
      line->beats = t.beats;
      line->pinned = t.pinned;
      // A team may hold an actor and wait for its mail: a handler runs only while its message is in the mailbox.
      auto const actor = t.actor_plus_one == 0 ? actors.end() : actors.find(t.actor_plus_one - 1);
      line->busy = actor != actors.end() && actor->second->waiting != 0 && takes_mail(actor->second->state);
      if (line->busy) {
        line->actor_index = t.actor_plus_one - 1;
        line->message = type_name_in(from, t.type);
        line->for_ns = from.now_ns - last.since_ns;
        auto& running = actor->second->running;
        // A wide message has many teams: the one that takes longest.
        if (!running || running->for_ns < line->for_ns) {
          running = std::make_unique<reports::runT>();
          running->team = i;
          running->message = line->message;
          running->for_ns = line->for_ns;
        }
      }
      out->teams.push_back(std::move(line));
    }
    to.devices.push_back(std::move(out));
  }
}

void reporter::add_memory(report& to) const {
  auto& rt = runtime_;
  to.pools.push_back(to_report("host", 0, rt.settings().buffer_bytes_cap, rt.host_buffers().statistics()));
  for (std::uint32_t d = 0; d < rt.device_count(); ++d) {
    to.devices[d]->transfers = to_report(rt.transfers(d));
    auto const memory = rt.memory(d);
    if (memory.is_one()) continue;
    auto const* const home = memory.device->home();
    to.pools.push_back(to_report("device", d, home->bytes(), memory.device->statistics()));
    if (memory.pinned != nullptr)
      to.pools.push_back(to_report("pinned", d, home->host_memory_bytes(), memory.pinned->statistics()));
  }
}

void reporter::add_connections(report& to) const {
  to.connections = std::make_unique<reports::clientsT>();
  auto& out = *to.connections;
  out.open = value(counters_->connections_open);
  out.total = value(counters_->connections_total);
  out.requests = value(counters_->requests);
  out.responses = value(counters_->responses);
  out.bytes_in = value(counters_->bytes_in);
  out.bytes_out = value(counters_->bytes_out);
  out.frames_refused = value(counters_->frames_refused);
  out.certificate_expires_s = counters_->certificate_expires.load(std::memory_order_relaxed);  // a report
  for (std::size_t i = 0; i < drop_reasons; ++i) {
    auto line = std::make_unique<reports::dropT>();
    line->reason = name_of(static_cast<drop_reason>(i));
    line->connections = value(counters_->dropped[i]);
    out.dropped.push_back(std::move(line));
  }
  to.files = std::make_unique<reports::kept_filesT>();
  to.files->checkpoints = value(counters_->checkpoints);
  to.files->checkpoints_failed = value(counters_->checkpoints_failed);
  to.files->recordings_failed = value(counters_->recordings_failed);
  to.files->checkpoint_failing =
      counters_->checkpoint_failing.load(std::memory_order_relaxed);  // relaxed: a report
}

void reporter::add_nats(report& to) const {
  to.nats = std::make_unique<reports::nats_trafficT>();
  auto& out = *to.nats;
  out.connected = nats_->connected.load(std::memory_order_relaxed);  // relaxed: a report
  out.requests = value(nats_->requests);
  out.requests_refused = value(nats_->requests_refused);
  out.durable = value(nats_->durable);
  out.durable_refused = value(nats_->durable_refused);
  out.redelivered = value(nats_->redelivered);
  out.acknowledged = value(nats_->acknowledged);
  out.login_refused =
      nats_->login_refused.load(std::memory_order_relaxed);  // relaxed: a report, as the next two
  out.has_durable = nats_->has_durable.load(std::memory_order_relaxed);
  out.durable_ready = nats_->durable_ready.load(std::memory_order_relaxed);
}

void reporter::add_tables(report& to) const {
  for (std::size_t i = 0; i < table_count; ++i) {
    auto const t = static_cast<table>(i);
    auto now = tables_->read(t);
    auto const in_runtime = [&](std::uint64_t actor_room::*all, std::uint64_t actor_room::*free) {
      now.used = now.limit = 0;
      for (std::uint32_t d = 0; d < runtime_.device_count(); ++d) {
        auto const room = runtime_.room(d);
        now.limit += room.*all;
        now.used += room.*all - room.*free;
      }
    };
    if (t == table::actors) in_runtime(&actor_room::actors, &actor_room::free_actors);
    if (t == table::actor_bytes) in_runtime(&actor_room::bytes, &actor_room::free_bytes);
    if (t == table::pinned_teams) in_runtime(&actor_room::pinned_teams, &actor_room::free_pinned_teams);
    auto line = std::make_unique<reports::shared_tableT>();
    line->name = name_of(t);
    line->used = now.used;
    line->limit = now.limit;
    line->refused = now.refused;
    to.tables.push_back(std::move(line));
  }
}

}  // namespace rondo::service
