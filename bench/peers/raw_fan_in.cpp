// Several producers and one consumer over raw queues.
#include <atomic>
#include <memory>
#include <thread>

#include "bench/harness/backoff.hpp"
#include "bench/harness/sampling.hpp"
#include "bench/peers/queue_adapters.hpp"
#include "bench/peers/raw_queues.hpp"

namespace rondo::bench {
namespace {

/// Sends `count` numbered messages, a multiple of the batch, once `go` is set.
template <class Queue>
void produce(Queue& queue, std::uint64_t count, std::atomic<bool> const& go) {
  typename Queue::producer producer(queue);
  std::array<payload, Queue::batch> batch{};
  for (backoff wait; !go.load(std::memory_order_acquire);) wait.pause();
  for (std::uint64_t sent = 0; sent < count; sent += Queue::batch) {
    for (std::size_t i = 0; i < Queue::batch; ++i) batch[i].value = sent + i;
    for (backoff wait; !producer.push(batch.data());) wait.pause();
  }
}

template <class Queue>
timing fan_in(std::uint64_t count_each, unsigned producers, cpu_pair cpus) {
  auto const queue = std::make_unique<Queue>();
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  pin_to(cpus[0]);
  for (unsigned i = 0; i < producers; ++i)
    threads.emplace_back([&] {
      // With one producer each side has its own processor; with more the system schedules them.
      producers == 1 ? pin_to(cpus[1]) : confine_to(cpus);
      produce(*queue, count_each, go);
    });
  if (producers > 1) confine_to(cpus);

  std::uint64_t received = 0, sum = 0;
  std::array<payload, Queue::batch> batch{};
  stopwatch const watch;
  go.store(true, std::memory_order_release);
  for (backoff wait; received < count_each * producers;) {
    std::size_t const got = queue->pop(batch.data());
    if (got == 0) wait.pause();
    for (std::size_t i = 0; i < got; ++i) sum += batch[i].value;
    received += got;
  }
  timing const took = watch.stop();
  for (auto& thread : threads) thread.join();
  check_equal("sum of the payloads", producers * (count_each * (count_each - 1) / 2), sum);
  return took;
}

template <class Queue>
bench_case fan_in_case(unsigned producers, bool anchor = false) {
  auto const run = [producers](sample_budget const& budget) {
    return throughput(budget, "messages_per_s", 1, [&](std::uint64_t& count) {
      std::uint64_t const each = std::max<std::uint64_t>(count / producers / Queue::batch, 1) * Queue::batch;
      count = each * producers;
      return fan_in<Queue>(each, producers, budget.cpus);
    });
  };
  return {"fan_in",
          Queue::name,
          {{"payload_bytes", "64"}, {"producers", std::to_string(producers)}},
          run,
          anchor};
}

}  // namespace

case_list raw_fan_in_cases() {
  case_list cases;
  for (unsigned producers : {1U, 2U, 4U}) {
    cases.push_back(fan_in_case<moodycamel_queue<1>>(producers, true));
    cases.push_back(fan_in_case<moodycamel_queue<32>>(producers));
    cases.push_back(fan_in_case<boost_lockfree_queue>(producers));
    cases.push_back(fan_in_case<mutex_deque>(producers));
  }
  return cases;
}

}  // namespace rondo::bench
