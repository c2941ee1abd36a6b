// What Rondo's cases on the device `cuda` share: the runtime or the bare device that they run on, started, checked
// and stopped, and the threads of a round trip on the two processors whose distance is probed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/gpu/actors.hpp"
#include "bench/harness/bench_case.hpp"
#include "runtime/core/directory.hpp"
#include "runtime/device/device.hpp"
#include "runtime/observe/telemetry.hpp"
#include "runtime/runtime.hpp"

namespace rondo::bench::gpu {

/// Which device runs the cases. `rehearsal`: the emulated one, to check this program where there is no GPU.
struct bed_options {
  std::string device = "cuda";
  bool rehearsal = false;
};
/// Set once, before the first case.
bed_options& chosen_bed();

enum class placement { pooled, pinned };
constexpr char const* to_string(placement p) { return p == placement::pinned ? "pinned" : "pooled"; }

/// The settings as shipped, for `actors`, of which `pinned` may have a team of their own; with `polling`, no thread of
/// the host sleeps while it waits.
config settings_for(std::uint32_t actors, std::uint32_t pinned = 0, bool polling = true);

/// For answers that end a long piece of work.
inline constexpr std::chrono::seconds patience{20};

/// The answer of an ask that cannot fail unless something is broken; throws std::runtime_error naming `what`.
template <class T>
T expect(std::string_view what, result<T> const& outcome) {
  if (!outcome) throw std::runtime_error(std::string(what) + ": " + outcome.error().message());
  return *outcome;
}

/// Binds the calling thread, which asks, to the first processor, and the one that takes completions to the second.
void seat_threads(cpu_pair cpus);

/// Waits until no message waits and all are accounted for (G1); throws when that does not come.
telemetry at_rest(runtime& rt);

/// The grid still runs, and nothing else can be measured any more.
struct device_stuck : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Starts a runtime of these actors, gives it to `work`, checks that it lost no message, and stops it. Throws
/// device_stuck when it does not stop.
measurement with_runtime(config const& settings, std::function<measurement(runtime&)> const& work);

template <class Behaviour>
std::vector<actor_ref<Behaviour>> launch_all(runtime& rt, std::uint32_t actors,
                                             actor_options const& options) {
  std::vector<actor_ref<Behaviour>> all;
  for (std::uint32_t i = 0; i < actors; ++i) all.push_back(rt.launch<Behaviour>("", options));
  return all;
}

/// Asks all of them at once and waits for the answers; `request_of(i)` is what the i-th one is asked. Throws when one
/// fails. Precondition: the way to the device has a slot for each.
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

/// What consumers or traders have counted, all together.
template <class Behaviour>
counted count_all(std::vector<actor_ref<Behaviour>> const& all) {
  counted sum{};
  for (auto const& one : all) {
    auto const n = expect("counting", one.ask(count{}, patience, block));
    sum.messages += n.messages;
    sum.sum += n.sum;
  }
  return sum;
}

/// The device without a runtime: posts an ask, and takes its answer where the device hands out its records.
///
/// Threads: one that asks; the device's own deliver.
class bare_device {
 public:
  explicit bare_device(config const& settings);
  ~bare_device() { end(); }
  bare_device(bare_device const&) = delete;
  bare_device& operator=(bare_device const&) = delete;

  actor_id launch_echo(actor_options const& options);

  /// Window 1: waits for the answer, polling. Throws when it is no answer.
  template <class Pong, class Ping>
  Pong ask(actor_id to, Ping const& m) {
    message const& answer = ask_untyped(to, type_id<Ping>, &m, sizeof m);
    if (answer.header.type != type_id<Pong>)
      throw std::runtime_error("the device answered with another type");
    Pong pong;
    __builtin_memcpy(&pong, answer.payload, sizeof pong);
    return pong;
  }
  /// Throws device_stuck when the grid does not end.
  void stop();

 private:
  /// Where the device's thread puts an answer.
  struct alignas(64) letter_box {
    std::atomic<std::uint32_t> answered{0};  // the number of the ask that the rest belongs to
    errc reason = errc::ok;
    message answer{};

    void take(host_record const& record) noexcept;
  };
  bool end();
  message const& ask_untyped(actor_id to, std::uint32_t type, void const* payload, std::uint32_t bytes);

  std::unique_ptr<letter_box> box_ = std::make_unique<letter_box>();
  std::unique_ptr<device> device_;
  directory directory_;
  std::uint32_t asked_ = 0;
};

}  // namespace rondo::bench::gpu
