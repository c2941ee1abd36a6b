// One host thread that sends for a long time, with at most as many messages in flight as the mailboxes hold.
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/system_executor.hpp>
#include <deque>

#include "bench/gpu/bed.hpp"
#include "bench/gpu/cases.hpp"
#include "bench/harness/sampling.hpp"

namespace rondo::bench::gpu {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint32_t capacity = 8192;         // of a mailbox
constexpr std::uint64_t window = capacity - 64;  // parcels in flight to one actor; the rest is for marks
constexpr std::uint64_t mark_every = window / 4;

/// A consumer and the state of its mail. A mark is an ask behind the parcels: its answer says how many were handled.
struct line {
  actor_ref<batch_consumer> to;
  std::uint64_t sent = 0, marked = 0, sum = 0;
  std::atomic<std::uint64_t> handled{0}, marks_answered{0};
  std::atomic<std::uint32_t> marks_out{0};
  std::atomic<int> failure{0};

  explicit line(actor_ref<batch_consumer> ref) : to(ref) {}

  void mark() {
    marked = sent;
    marks_out.fetch_add(1, std::memory_order_relaxed);  // relaxed: counts this thread's asks
    to.ask(count{}, ask_options{},
           boost::asio::bind_executor(
               boost::asio::system_executor(), [this](error_code ec, counted const& so_far) {
                 if (!ec) {
                   handled.store(so_far.messages,
                                 std::memory_order_relaxed);  // relaxed, all: published by marks_out
                   marks_answered.fetch_add(1, std::memory_order_relaxed);
                 } else if (ec != errc::device_busy) {  // a refused mark is asked again
                   failure.store(ec.value(), std::memory_order_relaxed);
                 }
                 marks_out.fetch_sub(1, std::memory_order_release);
               }));
  }

  /// Waits until there is certainly room for `more` parcels.
  void make_room(std::uint64_t more) {
    if (sent - marked >= mark_every) mark();
    while (sent + more - handled.load(std::memory_order_relaxed) > window) {
      if (marks_out.load(std::memory_order_acquire) == 0) mark();
      check();
      relax();
    }
  }
  void drain() {
    while (handled.load(std::memory_order_relaxed) != sent ||
           marks_out.load(std::memory_order_acquire) != 0) {
      if (marks_out.load(std::memory_order_acquire) == 0) mark();
      check();
      relax();
    }
  }
  void check() const {
    if (auto const reason = failure.load(std::memory_order_relaxed); reason != 0)
      throw boost::system::system_error(make_error_code(static_cast<errc>(reason)),
                                        "asking how many were handled");
  }
};

/// Retries until the submission ring has room; returns how often it was full.
template <class Messages>
std::uint64_t tell(actor_ref<batch_consumer> const& to, Messages const& messages) {
  std::uint64_t busy = 0;
  while (auto const refused = to.try_tell(messages)) {
    if (refused != errc::device_busy) throw boost::system::system_error(refused, "telling");
    ++busy;
    relax();
  }
  return busy;
}

/// Checks that every parcel was accepted and handled, and that no other message was counted.
void check_all_handled(runtime& rt, std::deque<line> const& lines) {
  std::uint64_t sent = 0, marks = 0;
  for (auto const& l : lines) {
    auto const found = expect("counting", l.to.ask(count{}, patience, block));
    check_equal("parcels handled", l.sent, found.messages);
    check_equal("sum of what was sent", l.sum, found.sum);
    sent += l.sent;
    marks += l.marks_answered.load(std::memory_order_relaxed) + 1;  // and the mark above
  }
  auto const t = at_rest(rt);  // conserved
  check_equal("messages accepted", sent + marks, t.live.accepted);
  check_equal("messages handled", sent + marks, t.live.handled);
  check_equal("dead letters", std::uint64_t{0}, t.dead_letters);
}

/// Sends to `actors` in turn, `Batch` parcels at a time, for `duration`; reports the total rate, and the rate of each
/// second.
template <std::size_t Batch>
measurement sustain(std::chrono::seconds duration, std::uint32_t actors) {
  std::deque<line> lines;  // outlive the runtime, which calls the handlers of open marks when it is destroyed
  return with_runtime(settings_for(actors), [&](runtime& rt) {
    for (auto const& one : launch_all<batch_consumer>(rt, actors, {.capacity = capacity}))
      lines.emplace_back(one);
    std::array<parcel, Batch> parcels{};
    std::uint64_t sent = 0, busy = 0, sent_before = 0;
    std::vector<double> seconds_rates;
    stopwatch const watch;
    auto const begin = clock::now();
    auto second = begin;
    for (std::size_t turn = 0;; ++turn) {
      line& l = lines[turn % lines.size()];
      l.make_room(Batch);
      for (auto& p : parcels) {
        p.value = sent++;
        l.sum += p.value;
      }
      if constexpr (Batch == 1)
        busy += tell(l.to, parcels.front());
      else
        busy += tell(l.to, std::span<parcel const>(parcels));
      l.sent += Batch;
      if (turn % 64 != 0) continue;  // does not read the clock for each message
      auto const now = clock::now();
      if (now - second >= std::chrono::seconds(1)) {
        std::chrono::duration<double> const took = now - second;
        seconds_rates.push_back(static_cast<double>(sent - sent_before) / took.count());
        sent_before = sent;
        second = now;
      }
      if (now - begin >= duration) break;
    }
    for (auto& l : lines) l.drain();
    timing const took = watch.stop();
    check_all_handled(rt, lines);
    measurement m;
    m["messages_per_s"] = {static_cast<double>(sent) * 1e9 / took.wall_ns};
    if (!seconds_rates.empty()) m["messages_in_each_second"] = std::move(seconds_rates);
    m["cpu_ns_per_message"] = {took.cpu_ns / static_cast<double>(sent)};
    m["busy_answers_per_message"] = {static_cast<double>(busy) / static_cast<double>(sent)};
    return m;
  });
}

}  // namespace

case_list sustained_cases(std::chrono::seconds duration) {
  case_list cases;
  for (std::uint32_t const actors : {1u, 64u}) {
    auto const add = [&](char const* peer, auto run) {
      bench_case one{"gpu_sustained",
                     peer,
                     {{"actors", std::to_string(actors)},
                      {"payload_bytes", "32"},
                      {"seconds", std::to_string(duration.count())}},
                     [=](sample_budget const&) { return run(duration, actors); }};
      one.limit = duration + std::chrono::seconds(60);
      one.most_samples = 1;
      one.attempts = 2;
      cases.push_back(std::move(one));
    };
    add("rondo, single", sustain<1>);
    add("rondo, batches of 64", sustain<64>);
  }
  return cases;
}

}  // namespace rondo::bench::gpu
