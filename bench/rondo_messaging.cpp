// Rondo: ping-pong, ring, fan-in, and the cost of metrics.
#include <atomic>
#include <future>

#include "bench/harness/backoff.hpp"
#include "bench/harness/sampling.hpp"
#include "bench/rondo_actors.hpp"
#include "bench/rondo_cases.hpp"

namespace rondo::bench {
namespace {

enum class placement { pooled, pinned };

measurement play(sample_budget const& budget, actor_ref<player> const& one, actor_ref<player> const& other) {
  expect("meeting the partner", other.ask(player::serve{one.where(), 0}, patience, block));
  return throughput(budget, "round_trips_per_s", 2, [&](std::uint64_t count) {
    stopwatch const watch;
    auto const replies = one.ask(player::serve{other.where(), count}, patience, block);
    timing const took = watch.stop();
    check_equal("sum of the replies", count * (count + 1) / 2, expect("ping-pong", replies).value);
    return took;
  });
}

measurement ping_pong_two_threads(sample_budget const& budget, placement where) {
  bool const pinned = where == placement::pinned;
  auto const rt = start(with_teams(pinned ? 1 : 2));
  auto const one = rt->launch<player>("", {.pinned = pinned});
  auto const other = rt->launch<player>("", {.pinned = pinned});
  if (pinned) {
    seat(one, budget.cpus[0]);
    seat(other, budget.cpus[1]);
  }
  return play(budget, one, other);
}

measurement ping_pong_one_team(sample_budget const& budget) {
  auto const rt = start(with_teams(1));
  auto const one = rt->launch<player>(""), other = rt->launch<player>("");
  seat(one, budget.cpus[0]);
  return play(budget, one, other);
}

measurement ring(sample_budget const& budget) {
  constexpr std::size_t size = 1000;
  auto const rt = start(with_teams(1));
  std::vector<actor_ref<ring_member>> members;
  for (std::size_t i = 0; i < size; ++i) members.push_back(rt->launch<ring_member>(""));
  for (std::size_t i = 0; i < size; ++i)
    if (auto const refused = members[i].try_tell(ring_member::next_is{members[(i + 1) % size].where()}))
      throw std::runtime_error("linking the ring: " + refused.message());
  seat(members.front(), budget.cpus[0]);
  return throughput(budget, "hops_per_s", 1, [&](std::uint64_t hops) {
    stopwatch const watch;
    auto const total = members.front().ask(ring_member::begin{hops}, patience, block);
    timing const took = watch.stop();
    check_equal("sum of the hop numbers", hops * (hops - 1) / 2, expect("the ring", total).value);
    return took;
  });
}

/// Retries until the mailbox has room. Messages: one payload, or a span of them.
template <class Sink, class Messages>
void tell_all(actor_ref<Sink> const& to, Messages const& messages) {
  unsigned refusals = 0;
  while (auto const refused = to.try_tell(messages)) {
    if (refused != errc::mailbox_full) throw std::runtime_error("fan-in: " + refused.message());
    // Waits long enough for the actor to make room for several messages; the actor's thread may also be waiting for
    // this processor.
    for (int i = 0; i < 32; ++i) relax();
    if (++refusals % 8 == 0) std::this_thread::yield();
  }
}

/// Sends `count` numbered messages, a multiple of Batch, once `go` is set.
template <std::size_t Batch, class Sink>
void produce(actor_ref<Sink> const& to, std::uint64_t count, std::atomic<bool> const& go) {
  std::array<payload, Batch> messages{};
  for (backoff wait; !go.load(std::memory_order_acquire);) wait.pause();
  for (std::uint64_t sent = 0; sent < count; sent += Batch) {
    for (std::size_t i = 0; i < Batch; ++i) messages[i].value = sent + i;
    if constexpr (Batch == 1)
      tell_all(to, messages.front());
    else
      tell_all(to, std::span<payload const>(messages));
  }
}

template <std::size_t Batch, class Sink>
measurement fan_in(sample_budget const& budget, unsigned producers, placement where,
                   std::uint32_t latency_sample_every = config{}.latency_sample_every) {
  auto settings = with_teams(1);
  settings.latency_sample_every = latency_sample_every;
  auto const rt = start(settings);
  auto const consumer = rt->launch<Sink>("", {.capacity = 4096, .pinned = where == placement::pinned});
  // With one producer each side has its own processor; with more the system schedules them.
  if (producers == 1) seat(consumer, budget.cpus[0]);
  std::uint64_t before = 0;
  return throughput(budget, "messages_per_s", 1, [&](std::uint64_t& count) {
    std::uint64_t const each = std::max<std::uint64_t>(count / producers / Batch, 1) * Batch;
    count = each * producers;
    std::atomic<bool> go{false};
    std::vector<std::future<void>> threads;
    for (unsigned i = 0; i < producers; ++i)
      threads.push_back(std::async(std::launch::async, [&] {
        if (producers == 1) pin_to(budget.cpus[1]);
        produce<Batch>(consumer, each, go);
      }));
    stopwatch const watch;
    go.store(true, std::memory_order_release);
    for (auto& thread : threads) thread.get();
    // This ask is behind all messages: its answer means that they were handled.
    auto total = consumer.ask(sum_so_far{}, patience, block);
    while (total.error() == errc::mailbox_full) total = consumer.ask(sum_so_far{}, patience, block);
    timing const took = watch.stop();
    std::uint64_t const after = expect("fan-in", total).value;
    check_equal("sum of the payloads", producers * (each * (each - 1) / 2), after - before);
    before = after;
    return took;
  });
}

void append_fan_in(case_list& cases, unsigned producers) {
  auto const add = [&](char const* peer, auto run, placement where) {
    cases.push_back(
        {"fan_in",
         peer,
         {{"payload_bytes", "64"}, {"producers", std::to_string(producers)}},
         [=](sample_budget const& b) { return run(b, producers, where, config{}.latency_sample_every); }});
  };
  add("rondo pooled", fan_in<1, sink>, placement::pooled);
  add("rondo pinned", fan_in<1, sink>, placement::pinned);
  add("rondo pooled, batches of 64", fan_in<64, batch_sink>, placement::pooled);
  add("rondo pinned, batches of 64", fan_in<64, batch_sink>, placement::pinned);
}

/// Message counters are part of the protocol and cannot be switched off. Only the timing of messages, when they are
/// sent and when they were handled, can be switched off. The rate "without" therefore has all counters, and times one
/// message in 1,048,576. tools/bench --telemetry compares builds with and without all telemetry.
case_list metrics_cases() {
  case_list cases;
  auto const add = [&](char const* peer, std::uint32_t every, bool anchor) {
    cases.push_back(
        {"metrics_cost",
         peer,
         {{"work", "fan_in"}},
         [every](sample_budget const& b) { return fan_in<1, sink>(b, 1, placement::pooled, every); },
         anchor});
  };
  add("rondo, counters without latencies", 1U << 20, true);
  add("rondo, as shipped: 1 latency in 64", config{}.latency_sample_every, false);
  add("rondo, every latency", 1, false);
  return cases;
}

}  // namespace

case_list rondo_messaging_cases() {
  auto const two_threads = [](placement where) {
    return [where](sample_budget const& b) { return ping_pong_two_threads(b, where); };
  };
  case_list cases{{"ping_pong_two_threads", "rondo pinned", {}, two_threads(placement::pinned)},
                  {"ping_pong_two_threads", "rondo pooled", {}, two_threads(placement::pooled)},
                  {"ping_pong_one_team", "rondo", {}, ping_pong_one_team},
                  {"ring", "rondo one team", {{"actors", "1000"}}, ring}};
  for (unsigned producers : {1U, 2U, 4U}) append_fan_in(cases, producers);
  append(cases, metrics_cases());
  return cases;
}

}  // namespace rondo::bench
