// A hand-made report in which every part has a value.
#pragma once

#include <set>
#include <tuple>

#include "kernels/base/counters.hpp"
#include "runtime/service/monitor/report.hpp"

namespace service_test {

inline std::unique_ptr<rondo::reports::actorT> sample_actor(std::string name, std::uint32_t index) {
  auto a = std::make_unique<rondo::reports::actorT>();
  a->name = std::move(name);
  a->behaviour = "shop::counter";
  a->index = index;
  a->generation = 1;
  a->state = "active";
  a->capacity = 1024;
  a->accepted = 1007;
  a->handled = 1000;
  a->waiting = 7;
  a->peak_depth = 50;
  a->latency_sum_ns = 5'000'000;
  a->latency_samples = 1000;
  a->latency_counts.assign(rondo::latency_histogram::buckets, 0);
  a->latency_counts[static_cast<std::size_t>(rondo::latency_histogram::bucket_of(5000))] = 990;
  a->latency_counts[static_cast<std::size_t>(rondo::latency_histogram::bucket_of(90'000))] = 10;
  return a;
}

inline std::unique_ptr<rondo::reports::stageT> sample_stage(std::string name, std::string type,
                                                            std::uint32_t device, std::uint64_t busy_ns) {
  auto s = std::make_unique<rondo::reports::stageT>();
  s->name = std::move(name);
  s->type = std::move(type);
  s->device = device;
  s->replicas = 1;
  s->processed = 1000;
  s->busy_ns = busy_ns;
  s->longest_ns = 2'500'000;
  return s;
}

/// Five stages on two devices, the second of which is added to the report, and a transfer.
inline rondo::service::report with_graph(rondo::service::report r) {
  namespace reports = rondo::reports;
  auto host = std::make_unique<reports::deviceT>();
  host->name = "cpu";
  host->description = "2 teams";
  host->pool_teams = 2;
  host->transfers = std::make_unique<reports::copiesT>();
  for (int t = 0; t < 2; ++t) host->teams.push_back(std::make_unique<reports::teamT>());
  r.devices.push_back(std::move(host));
  auto g = std::make_unique<reports::graphT>();
  g->name = "studio";
  g->state = "running";
  g->rate = 60;
  g->stages.push_back(sample_stage("camera", "rondo::video::camera", 1, 300'000'000));
  g->stages.push_back(sample_stage("blur", "rondo::video::blur", 0, 900'000'000));
  g->stages.push_back(sample_stage("frame_rate", "rondo::video::frame_rate", 0, 20'000'000));
  g->stages.push_back(sample_stage("screen", "rondo::video::null_sink", 1, 5'000'000));
  g->stages.push_back(sample_stage("file", "rondo::video::file_sink", 1, 0));
  for (auto& s : g->stages) s->counted_ns = r.clock_ns;
  g->stages[0]->skipped = 2;
  g->stages[1]->replicas = 3;
  g->stages[1]->failed = 4;
  g->stages[1]->copied = 11;
  g->stages[2]->dropped = 6;
  g->stages[2]->replaced = 7;
  g->stages[2]->late = 5;
  g->stages[0]->lost = 3;
  g->stages[4]->processed = 0;
  g->stages[4]->counted_ns = 0;  // it has never answered
  for (auto const& [from, to, how] : {std::tuple{"camera.video", "blur.video", "lossless"},
                                      {"blur.video", "frame_rate.video", "lossless"},
                                      {"frame_rate.video", "screen.video", "latest"},
                                      {"frame_rate.video", "file.video", "every"}}) {
    auto e = std::make_unique<reports::stage_edgeT>();
    e->from = from;
    e->to = to;
    e->delivery = how;
    g->edges.push_back(std::move(e));
  }
  auto t = std::make_unique<reports::stage_transferT>();
  t->from = "camera.video";
  t->to_device = 0;
  t->bytes = 1'382'400;
  t->copies = 1000;
  t->copy_ns = 88'000'000;
  g->transfers.push_back(std::move(t));
  r.graphs.push_back(std::move(g));
  return r;
}

inline rondo::service::report sample_report() {
  namespace reports = rondo::reports;
  rondo::service::report r;
  r.service = "shop";
  r.incarnation = 7;
  r.uptime_ns = 93'784'000'000'000;
  r.clock_ns = r.uptime_ns + 1'000'000'000;
  r.wall_ms = 1'700'000'000'000;
  for (int b = 0; b < rondo::latency_histogram::buckets; ++b)
    r.latency_floors_ns.push_back(rondo::latency_histogram::floor_ns(b));
  r.actors.push_back(sample_actor("clicks", 0));
  r.actors.push_back(sample_actor("prices", 1));
  auto& ill = *r.actors[1];
  ill.failures = 3;
  ill.running = std::make_unique<reports::runT>();
  ill.running->team = 1;
  ill.running->message = "shop::refresh";
  ill.running->for_ns = 2'500'000'000;
  ill.last_failure = std::make_unique<reports::failureT>();
  ill.last_failure->reason = "handler_failed";
  ill.last_failure->text = "the handler reported an error";
  ill.last_failure->message = "shop::refresh";
  ill.last_failure->action = "restarted";
  ill.last_failure->age_ns = 9'000'000'000;
  r.actor_limit = 4096;
  auto device = std::make_unique<reports::deviceT>();
  device->name = "cuda:0";
  device->description = "Fake H1, 4 teams of 32 lanes";
  device->pool_teams = 4;
  for (int t = 0; t < 4; ++t) device->teams.push_back(std::make_unique<reports::teamT>());
  auto& team = *device->teams[1];
  team.busy = true;
  team.actor_index = 1;
  team.message = "shop::refresh";
  team.for_ns = 2'500'000'000;
  team.beats = 1500;
  device->transfers = std::make_unique<reports::copiesT>();
  device->transfers->to_device = 12;
  device->transfers->to_host = 3;
  device->transfers->batches = 9;
  device->transfers->bytes = 48 << 20;
  device->queues = std::make_unique<reports::queue_pairT>();
  device->queues->submissions_waiting = 12;
  device->queues->submission_slots = 1024;
  device->queues->submitted = 1600;
  device->queues->completed = 1550;
  device->queues->completion_slots = 1024;
  r.devices.push_back(std::move(device));
  for (auto const* const place : {"host", "device", "pinned"}) {
    auto pool = std::make_unique<reports::poolT>();
    pool->place = place;
    pool->cap_bytes = 1ull << 30;
    pool->in_use_bytes = 300ull << 20;
    pool->cached_bytes = 20ull << 20;
    pool->peak_bytes = 400ull << 20;
    pool->buffers_in_use = 12;
    pool->hits = 100;
    pool->misses = 20;
    r.pools.push_back(std::move(pool));
  }
  r.live = std::make_unique<reports::totalsT>();
  r.retired = std::make_unique<reports::totalsT>();
  r.live->accepted = 1014;
  r.live->handled = 1000;
  r.retired->accepted = r.retired->handled = 500;
  r.waiting = 14;
  r.asks_waiting = 2;
  r.ask_limit = 4096;
  r.conserved = true;
  r.connections = std::make_unique<reports::clientsT>();
  r.connections->open = 3;
  r.connections->total = 40;
  r.connections->requests = r.connections->responses = 9000;
  r.connections->bytes_in = 900'000;
  r.connections->bytes_out = 1'200'000;
  r.connections->certificate_expires_s = 1'900'000'000;
  auto drop = std::make_unique<reports::dropT>();
  drop->reason = "slow_reader";
  drop->connections = 2;
  r.connections->dropped.push_back(std::move(drop));
  auto asks = std::make_unique<reports::shared_tableT>();
  asks->name = "asks";
  asks->used = 2;
  asks->limit = 4096;
  asks->refused = 5;
  r.tables.push_back(std::move(asks));
  r.files = std::make_unique<reports::kept_filesT>();
  r.files->checkpoints = 12;
  r.files->checkpoints_failed = 1;
  r.files->checkpoint_failing = true;
  r.nats = std::make_unique<reports::nats_trafficT>();
  r.nats->connected = true;
  r.nats->requests = 70;
  r.nats->requests_refused = 1;
  r.nats->durable = 30;
  r.nats->durable_refused = 2;
  r.nats->redelivered = 3;
  r.nats->acknowledged = 25;
  r.nats->has_durable = true;
  r.nats->durable_ready = true;
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto gpu = std::make_unique<reports::gpuT>();
    gpu->index = i;
    gpu->name = i == 0 ? "Fake H1" : "Fake H2";
    gpu->temperature_celsius = 61;
    if (i == 0) {
      gpu->utilization_percent = 73;
      gpu->memory_used_bytes = 3ll << 30;
      gpu->memory_total_bytes = 8ll << 30;
      gpu->power_watts = 123.4;
      gpu->pcie_rx_bytes_per_second = 2'000'000;
      gpu->pcie_tx_bytes_per_second = 500'000;
    }
    r.gpus.push_back(std::move(gpu));
  }
  return r;
}

}  // namespace service_test
