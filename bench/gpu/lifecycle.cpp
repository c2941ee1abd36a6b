// Launching an actor, and restarting one that failed, until it answers.
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/system_executor.hpp>

#include "bench/gpu/bed.hpp"
#include "bench/gpu/cases.hpp"
#include "bench/harness/sampling.hpp"
#include "runtime/lifecycle.hpp"

namespace rondo::bench::gpu {
namespace {

using clock = std::chrono::steady_clock;

double ns_between(clock::time_point from, clock::time_point to) {
  return std::chrono::duration<double, std::nano>(to - from).count();
}

small_ping ping_of(std::uint64_t number) { return {numbered<4>::of(number)}; }

/// The outcome of an operation that completes with an error_code on the device's thread; the caller polls for it.
template <class Begin>
error_code polled(Begin begin) {
  std::atomic<int> outcome{-1};
  begin(boost::asio::bind_executor(boost::asio::system_executor(), [&outcome](error_code ec) {
    outcome.store(ec.value(), std::memory_order_release);
  }));
  int value = -1;
  while ((value = outcome.load(std::memory_order_acquire)) < 0) relax();  // the watchdog bounds this loop
  return make_error_code(static_cast<errc>(value));
}

/// From the call that launches an actor to its first answer; then from the call that terminates it until it has terminated.
measurement launch(sample_budget const& budget, placement where) {
  actor_options const how{.pinned = where == placement::pinned};
  return with_runtime(settings_for(1024, how.pinned ? 8 : 0), [&](runtime& rt) {
    seat_threads(budget.cpus);
    measurement m;
    std::vector<double> answers_ns, calls_ns, ends_ns;
    auto const begin = clock::now();
    for (std::uint64_t i = 0; clock::now() - begin < budget.time; ++i) {
      auto const start = clock::now();
      auto const actor = rt.launch<echo>("", how);
      auto const called = clock::now();
      auto const pong = expect("the first ask", actor.ask(ping_of(i), ask_options{}, block));
      auto const answered = clock::now();
      auto const ended = polled(
          [&](auto handler) { rondo::terminate(rt, actor.id(), termination::drain, std::move(handler)); });
      auto const gone = clock::now();
      if (ended) throw boost::system::system_error(ended, "terminating an actor");
      if (!pong.holds(i + 1)) throw std::runtime_error("a launched actor answered wrongly");
      answers_ns.push_back(ns_between(start, answered));
      calls_ns.push_back(ns_between(start, called));
      ends_ns.push_back(ns_between(answered, gone));
    }
    m["launch_to_answer_ns"] = std::move(answers_ns);
    m["launch_call_ns"] = std::move(calls_ns);
    m["terminate_ns"] = std::move(ends_ns);
    return m;
  });
}

/// From an ask whose handler fails to its answer, which the restarted actor gives.
measurement restart(sample_budget const& budget, placement where) {
  // Allows any number of restarts: the window in which they are counted is the shortest possible.
  actor_options const how{.pinned = where == placement::pinned,
                          .supervise = {.poison_after = 1, .max_restarts = 0xffff, .within_ms = 1}};
  return with_runtime(settings_for(1, how.pinned ? 1 : 0), [&](runtime& rt) {
    auto const actor = rt.launch<echo>("", how);
    seat_threads(budget.cpus);
    measurement m;
    auto& restarts_ns = m["restart_ns"];
    auto const begin = clock::now();
    for (std::uint64_t i = 0; clock::now() - begin < budget.time; ++i) {
      expect("an ask before the failure", actor.ask(ping_of(i), ask_options{}, block));
      auto const start = clock::now();
      auto const failed = actor.ask(crash{}, ask_options{}, block);
      auto const answered = clock::now();
      if (failed || failed.error() != errc::handler_failed)
        throw std::runtime_error("an ask that fails: " + (failed ? "answered" : failed.error().message()));
      check_equal("messages handled since the restart", std::uint64_t{0},
                  expect("asking the new one", actor.ask(lives{}, ask_options{}, block)).messages);
      restarts_ns.push_back(ns_between(start, answered));
    }
    return m;
  });
}

}  // namespace

case_list lifecycle_cases() {
  case_list cases;
  for (auto const where : {placement::pooled, placement::pinned}) {
    auto const peer = std::string("rondo ") + to_string(where);
    cases.push_back({"gpu_launch", peer, {}, [=](sample_budget const& b) { return launch(b, where); }});
    cases.push_back({"gpu_restart", peer, {}, [=](sample_budget const& b) { return restart(b, where); }});
  }
  return cases;
}

}  // namespace rondo::bench::gpu
