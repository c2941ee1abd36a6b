// Launching an actor, and restarting one that failed, until it answers.
#include "runtime/lifecycle.hpp"

#include "bench/gpu/bed.hpp"
#include "bench/gpu/cases.hpp"
#include "bench/harness/sampling.hpp"

namespace rondo::bench::gpu {
namespace {

/// From the call that launches an actor to its first answer. It is terminated before the next.
measurement launch(sample_budget const& budget, placement where) {
  actor_options const how{.pinned = where == placement::pinned};
  return with_runtime(settings_for(1024, how.pinned ? 8 : 0), [&](runtime& rt) {
    trip_recorder launches(budget);
    while (launches.more()) {
      auto const number = launches.begin();
      auto const actor = rt.launch<echo>("", how);
      launches.end(expect("the first ask", actor.ask(ping_of(number), ask_options{}, block)).words[0]);
      if (auto const ended = rondo::terminate(actor, termination::drain, block))
        throw boost::system::system_error(ended, "terminating an actor");
    }
    return launches.finish("launch_to_answer_ns", 1);
  });
}

/// From an ask whose handler fails to its answer, which the restarted actor gives.
measurement restart(sample_budget const& budget, placement where) {
  // Allows any number of restarts: the window in which they are counted is the shortest possible.
  actor_options const how{.pinned = where == placement::pinned,
                          .supervise = {.poison_after = 1, .max_restarts = 0xffff, .within_ms = 1}};
  return with_runtime(settings_for(1, how.pinned ? 1 : 0), [&](runtime& rt) {
    auto const actor = rt.launch<echo>("", how);
    trip_recorder restarts(budget);
    while (restarts.more()) {
      auto const number = restarts.begin();
      auto const failed = actor.ask(crash{}, ask_options{}, block);
      restarts.end(number + 1);
      if (failed || failed.error() != errc::handler_failed)
        throw std::runtime_error("an ask that fails: " + (failed ? "answered" : failed.error().message()));
      check_equal("messages handled since the restart", std::uint64_t{0},
                  expect("asking the new one", actor.ask(lives{}, ask_options{}, block)).messages);
      expect("an ask before the next failure", actor.ask(ping_of(number), ask_options{}, block));
    }
    return restarts.finish("restart_ns", 1);
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
