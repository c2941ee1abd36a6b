// The parts that Rondo's cases share: starting, checking and stopping the runtime under test.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/gpu/actors.hpp"
#include "bench/harness/bench_case.hpp"
#include "bench/harness/cpus.hpp"
#include "runtime/observe/telemetry.hpp"
#include "runtime/runtime.hpp"

namespace rondo::bench::gpu {

/// The device that runs the cases: "cuda", or "emulated" to check this program without a GPU. Set before the first
/// case.
std::string& bench_device();

enum class placement { pooled, pinned };
constexpr char const* to_string(placement p) { return p == placement::pinned ? "pinned" : "pooled"; }

/// The default settings, for `actors` actors, of which `pinned` have a team of their own; with `polling`, no host
/// thread sleeps while it waits.
config settings_for(std::uint32_t actors, std::uint32_t pinned = 0, bool polling = true);

/// The time limit for answers that end a long piece of work.
inline constexpr std::chrono::seconds patience{20};

/// The answer of an ask that fails only if something is broken; then throws std::runtime_error naming `what`.
template <class T>
T expect(std::string_view what, result<T> const& outcome) {
  if (!outcome) throw std::runtime_error(std::string(what) + ": " + outcome.error().message());
  return *outcome;
}

/// Waits until no message waits and all are accounted for (G1); throws if that takes too long.
telemetry at_rest(runtime& rt);

/// The part of with_runtime behind the start.
measurement measure(runtime& rt, cpu_pair const& cpus, std::function<measurement(runtime&)> const& work);

/// Starts a runtime of these actors, binds the calling thread and the one that takes completions to the two processors
/// of the sample, calls `work` with the runtime, checks that no message was lost, and stops it. Throws
/// std::runtime_error if one was, or if it does not stop.
template <class Module = bench_actors>
measurement with_runtime(config const& settings, std::function<measurement(runtime&)> const& work) {
  auto const cpus = first_two_cpus();  // those of this sample, to which its process is confined
  // The other threads of the runtime and of CUDA run elsewhere: these two poll.
  run_anywhere();
  runtime rt{use<Module>, settings};
  return measure(rt, cpus, work);
}

/// A request whose words all carry the number.
template <class Ping = small_ping>
Ping ping_of(std::uint64_t number) {
  return {Ping::of(number)};
}

template <class Behaviour>
std::vector<actor_ref<Behaviour>> launch_all(runtime& rt, std::uint32_t actors,
                                             actor_options const& options) {
  std::vector<actor_ref<Behaviour>> all;
  for (std::uint32_t i = 0; i < actors; ++i) all.push_back(rt.launch<Behaviour>("", options));
  return all;
}

/// Asks all of them at once and waits for the answers; `request_of(i)` is the request for the i-th actor. Throws if one
/// fails. Precondition: the submission ring has a slot for each.
template <class Behaviour, class RequestOf>
void ask_all(std::vector<actor_ref<Behaviour>> const& all, RequestOf request_of) {
  using reply = reply_to_t<Behaviour, decltype(request_of(0))>;
  auto const left = std::make_shared<std::atomic<std::size_t>>(all.size());
  auto const failure = std::make_shared<std::atomic<int>>(0);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].ask(request_of(i), ask_options{.timeout = patience}, [left, failure](error_code ec, reply) {
      if (ec) failure->store(ec.value(), std::memory_order_relaxed);  // relaxed: published by `left`
      left->fetch_sub(1, std::memory_order_release);
    });
  while (left->load(std::memory_order_acquire) != 0) relax();
  if (auto const reason = failure->load(std::memory_order_relaxed); reason != 0)
    throw std::runtime_error("asking all: " + make_error_code(static_cast<errc>(reason)).message());
}

/// The sum of the counts of all consumers or traders. Their mailboxes may still be full of what was sent.
template <class Behaviour>
counted count_all(std::vector<actor_ref<Behaviour>> const& all) {
  counted sum{};
  for (auto const& one : all) {
    auto answer = one.ask(count{}, patience, block);
    while (answer.error() == errc::mailbox_full) answer = one.ask(count{}, patience, block);
    auto const n = expect("counting", answer);
    sum.messages += n.messages;
    sum.sum += n.sum;
  }
  return sum;
}

}  // namespace rondo::bench::gpu
