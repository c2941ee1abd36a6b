// A router with its workers, and a runtime whose dead letters are collected.
#pragma once

#include <algorithm>
#include <map>

#include "tests/conformance/harness.hpp"

namespace conformance {

/// A router and its workers.
template <class Router>
struct crew {
  rondo::actor_ref<Router> router;
  std::vector<rondo::actor_ref<worker>> workers{};

  crew(rondo::runtime& rt, std::uint32_t size, rondo::actor_options const& of_workers = {},
       bool pinned = false)
      : router(rt.launch<Router>("router", {.capacity = 1024, .pinned = pinned})) {
    for (std::uint32_t i = 0; i < size; ++i) {
      workers.push_back(rt.launch<worker>("worker " + std::to_string(i), of_workers));
      CHECK(join(i) == i + 1);
    }
  }
  std::uint32_t join(std::uint32_t i) const {
    return ask(router, rondo::join<worker>{workers[i].where()}).value().members;
  }
  std::uint32_t leave(std::uint32_t i) const {
    return ask(router, rondo::leave<worker>{workers[i].where()}).value().members;
  }
  std::uint32_t members() const { return ask(router, rondo::count_members<worker>{}).value().members; }
  work_done done_by(std::uint32_t i) const { return ask(workers[i], read_work{}).value(); }
  std::vector<std::uint32_t> jobs_done() const {
    std::vector<std::uint32_t> jobs;
    for (std::uint32_t i = 0; i < workers.size(); ++i) {
      jobs.push_back(done_by(i).jobs);
      CHECK(done_by(i).disorder == 0);
    }
    return jobs;
  }
  /// Waits until so many jobs wait for each worker.
  bool waiting(rondo::runtime& rt, std::vector<std::uint32_t> const& jobs) const {
    return eventually([&] {
      auto const t = rt.snapshot();
      return std::ranges::equal(workers, jobs, [&](auto const& w, std::uint32_t n) {
        return report_of(t, w.id()).now.waiting == n;
      });
    });
  }
  /// The worker that answers for each key.
  std::map<std::uint32_t, rondo::actor_id> owners() const {
    std::map<std::uint32_t, rondo::actor_id> owner;
    for (std::uint32_t key = 0; key < job_keys; ++key) owner[key] = ask(router, whose{key}).value().worker;
    return owner;
  }
};

using counts = std::vector<std::uint32_t>;

inline std::uint32_t few_on_ptx(variant const& v, std::uint32_t few, std::uint32_t many) {
  return v.settings.device == "ptx" ? few : many;
}

/// Tells jobs of the keys 0, 1, 2, ... in turn.
template <class Router>
void tell_jobs(rondo::actor_ref<Router> const& to, std::uint32_t count, rondo::tell_options options = {}) {
  for (std::uint32_t i = 0; i < count; ++i) REQUIRE_FALSE(tell(to, job{i % job_keys, i / job_keys}, options));
}

/// A runtime with a listener for its dead letters.
struct overheard {
  std::unique_ptr<rondo::runtime> rt;
  listener<rondo::dead_letter> letters{};
  rondo::subscription subscription;

  explicit overheard(variant const& v)
      : rt(start(v.settings)), subscription(rt->on_dead_letter(letters.handler())) {}
  /// Waits for the `number`-th dead letter, and checks that it is the last one.
  void check_letter(std::size_t number, rondo::actor_id of, errc reason) {
    REQUIRE(letters.wait_for(number));
    CHECK(letters.all().back().actor == of);
    CHECK(letters.all().back().reason == reason);
    CHECK(letters.count() == number);
  }
};

}  // namespace conformance
