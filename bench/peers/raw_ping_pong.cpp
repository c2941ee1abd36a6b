// Ping-pong between two threads over raw queues.
#include <readerwriterqueue/readerwriterqueue.h>

#include <boost/lockfree/spsc_queue.hpp>

#include "bench/harness/backoff.hpp"
#include "bench/harness/sampling.hpp"
#include "bench/peers/echo_thread.hpp"
#include "bench/peers/raw_queues.hpp"

namespace rondo::bench {
namespace {

/// Keeps the other side's index cached, so that a push or pop usually touches one shared line: the best case.
struct cached_spsc {
  static constexpr auto name = "ReaderWriterQueue";
  bool push(std::uint64_t value) { return queue.try_enqueue(value); }
  bool pop(std::uint64_t& value) { return queue.try_dequeue(value); }
  moodycamel::ReaderWriterQueue<std::uint64_t> queue{64};
};

struct boost_spsc {
  static constexpr auto name = "boost::lockfree::spsc_queue";
  bool push(std::uint64_t value) { return queue.push(value); }
  bool pop(std::uint64_t& value) { return queue.pop(value); }
  boost::lockfree::spsc_queue<std::uint64_t, boost::lockfree::capacity<64>> queue;
};

template <class Queue>
measurement ping_pong(sample_budget const& budget) {
  pin_to(budget.cpus[0]);
  echo_thread<Queue> partner(budget.cpus[1]);
  return throughput(budget, "round_trips_per_s", 2, [&](std::uint64_t count) {
    std::uint64_t sum = 0;
    stopwatch const watch;
    for (std::uint64_t i = 0; i < count; ++i) sum += partner.ask(i);
    timing const took = watch.stop();
    check_equal("sum of the replies", count * (count + 1) / 2, sum);
    return took;
  });
}

template <class Queue>
measurement ask_hot(sample_budget const& budget) {
  pin_to(budget.cpus[0]);
  echo_thread<Queue> server(budget.cpus[1]);
  return round_trips(budget, [&](std::uint64_t value) { return server.ask(value); });
}

}  // namespace

case_list raw_ping_pong_cases() {
  return {{"ping_pong_two_threads", cached_spsc::name, {}, ping_pong<cached_spsc>, true},
          {"ping_pong_two_threads", boost_spsc::name, {}, ping_pong<boost_spsc>},
          {"ask_hot", "ReaderWriterQueue, polling", {}, ask_hot<cached_spsc>, true}};
}

}  // namespace rondo::bench
