// CAF: ping-pong, ring and fan-in.
#include <thread>

#include "bench/harness/sampling.hpp"
#include "bench/peers/caf_cases.hpp"
#include "bench/peers/caf_system.hpp"
#include "bench/peers/raw_queues.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(rondo::bench::payload)  // stays inside this process and is never serialised

namespace rondo::bench {
namespace {

caf::behavior pong() {
  return {[](std::uint64_t value) { return value + 1; }};
}

caf::behavior ping(caf::event_based_actor* self, caf::actor const& partner, caf_tally* tally) {
  return {[=](start_atom) { self->send(partner, std::uint64_t{0}); },
          [=](std::uint64_t reply) {
            if (tally->count(reply)) self->send(partner, reply);
          }};
}

template <caf::spawn_options Options>
measurement ping_pong(sample_budget const& budget, std::size_t workers) {
  caf_tally tally;
  caf_system caf(workers);
  auto const partner = caf.spawn<Options>(pong);
  auto const server = caf.spawn<Options>(ping, partner, &tally);
  return throughput(budget, "round_trips_per_s", 2, [&](std::uint64_t count) {
    tally.expect(count);
    stopwatch const watch;
    caf::anon_send(server, start_atom::value);
    std::uint64_t const sum = tally.wait();
    timing const took = watch.stop();
    check_equal("sum of the replies", count * (count + 1) / 2, sum);
    return took;
  });
}

caf::behavior ring_member(caf::stateful_actor<caf::actor>* self, caf_tally* tally) {
  return {[=](next_atom, caf::actor const& next) { self->state = next; },
          [=](std::uint64_t hop) {
            if (tally->count(hop)) self->send(self->state, hop + 1);
          }};
}

measurement ring(sample_budget const& budget, std::size_t workers) {
  constexpr std::size_t size = 1000;
  caf_tally tally;
  caf_system caf(workers);
  for (std::size_t i = 0; i < size; ++i) caf.spawn(ring_member, &tally);
  for (std::size_t i = 0; i < size; ++i)
    caf::anon_send(caf.actors()[i], next_atom::value, caf.actors()[(i + 1) % size]);
  return throughput(budget, "hops_per_s", 1, [&](std::uint64_t hops) {
    tally.expect(hops);
    stopwatch const watch;
    caf::anon_send(caf.actors().front(), std::uint64_t{0});
    std::uint64_t const sum = tally.wait();
    timing const took = watch.stop();
    check_equal("sum of the hop numbers", hops * (hops - 1) / 2, sum);
    return took;
  });
}

caf::behavior sink(caf::event_based_actor*, caf_tally* tally) {
  return {[=](payload const& message) { tally->count(message.value); }};
}

/// The mailbox is unbounded: messages that the sink has not handled yet show up as peak memory.
measurement fan_in(sample_budget const& budget, unsigned producers) {
  caf_tally tally;
  caf_system caf(2);
  auto const consumer = caf.spawn(sink, &tally);
  return throughput(budget, "messages_per_s", 1, [&](std::uint64_t& count) {
    std::uint64_t const each = std::max<std::uint64_t>(count / producers, 1);
    count = each * producers;
    tally.expect(count);
    std::vector<std::thread> threads;
    stopwatch const watch;
    for (unsigned i = 0; i < producers; ++i)
      threads.emplace_back([&] {
        for (std::uint64_t sent = 0; sent < each; ++sent) caf::anon_send(consumer, payload{sent, {}});
      });
    std::uint64_t const sum = tally.wait();
    timing const took = watch.stop();
    for (auto& thread : threads) thread.join();
    check_equal("sum of the payloads", producers * (each * (each - 1) / 2), sum);
    return took;
  });
}

}  // namespace

case_list caf_messaging_cases() {
  auto const detached = [](sample_budget const& b) { return ping_pong<caf::detached>(b, 1); };
  auto const pooled = [](sample_budget const& b) { return ping_pong<caf::no_spawn_options>(b, 2); };
  auto const one_worker = [](sample_budget const& b) { return ping_pong<caf::no_spawn_options>(b, 1); };
  case_list cases{
      {"ping_pong_two_threads", "caf detached", {}, detached},
      {"ping_pong_two_threads", "caf pooled", {}, pooled},
      {"ping_pong_one_team", "caf one worker", {}, one_worker},
      {"ring", "caf one worker", {{"actors", "1000"}}, [](sample_budget const& b) { return ring(b, 1); }},
      {"ring", "caf pooled", {{"actors", "1000"}}, [](sample_budget const& b) { return ring(b, 2); }}};
  for (unsigned producers : {1U, 2U, 4U})
    cases.push_back({"fan_in",
                     "caf pooled",
                     {{"payload_bytes", "64"}, {"producers", std::to_string(producers)}},
                     [producers](sample_budget const& b) { return fan_in(b, producers); }});
  return cases;
}

case_list caf_cases() {
  case_list cases = caf_messaging_cases();
  append(cases, caf_latency_cases());
  append(cases, caf_population_cases());
  return cases;
}

}  // namespace rondo::bench
