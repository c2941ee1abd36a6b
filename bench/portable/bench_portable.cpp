// Portable behaviours on OpenCL's processor (pocl), beside the same handlers on the host's teams, on the same cores.
//
// A round: the program tells each of 1,024 actors 16 messages, as batches; each actor's last one is reported to a
// collector, which answers once all have come. So a round has sending, packing, playing and delivery in it. Google
// Benchmark's JSON (--benchmark_format=json) carries machine and date; items are messages. bench/streams/players runs
// it.
#include <benchmark/benchmark.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

#include "bench/portable/worker.hpp"
#include "bench/portable/worker_kernels.hpp"
#include "runtime/core/make_device.hpp"
#include "runtime/player/opencl_player.hpp"
#include "runtime/runtime.hpp"

namespace portable_bench {

struct await_all {
  unsigned count;
};
struct all_came {
  unsigned sum;
};
/// Answers once `count` workers have finished.
struct collector {
  using messages = rondo::messages<finished, rondo::ask<await_all, all_came>>;
  unsigned came = 0, sum = 0, wanted = 0;
  rondo::reply_token asker{};
  RONDO_HD void on(rondo::context& ctx, finished const& f) {
    ++came;
    sum += f.result;
    answer(ctx);
  }
  RONDO_HD void on(rondo::context& ctx, await_all const& m) {
    wanted = m.count;
    asker = ctx.defer();
    answer(ctx);
  }
  RONDO_HD void answer(rondo::context& ctx) {
    if (wanted == 0 || came < wanted) return;
    static_cast<void>(ctx.reply_to(asker, all_came{sum}));
    came = sum = wanted = 0;
  }
};
RONDO_MODULE(bench_module, worker, collector)

namespace {

constexpr std::uint32_t actors = 1024, messages = 16;

RONDO_KERNELS(worker_kernels)

/// `where`: host or gpu.
std::unique_ptr<rondo::runtime> start(char const* where) {
  rondo::config settings;
  settings.device = "opencl:Portable";
  settings.actors = actors + 8;
  settings.portable = where;
  return std::make_unique<rondo::runtime>(rondo::use<bench_module>, settings);
}

void rounds(benchmark::State& state, char const* where) {
  auto const rt = start(where);
  auto const all = rt->launch<collector>("collector", {.capacity = 2 * actors});
  std::vector<rondo::actor_ref<worker>> workers;
  for (std::uint32_t i = 0; i < actors; ++i)
    workers.push_back(rt->launch<worker>("worker" + std::to_string(i), {.capacity = 2 * messages}));
  std::vector<step> batch(messages, step{static_cast<unsigned>(state.range(0)), 0, all.id()});
  batch.back().is_last = 1;
  unsigned sum = 0;
  for (auto _ : state) {
    for (auto const& w : workers)
      while (w.try_tell(std::span<step const>(batch)))
        ;
    auto const came = all.ask(await_all{actors}, {.timeout = std::chrono::seconds(20)}, rondo::block);
    if (!came) return state.SkipWithError(came.error().message().c_str());
    sum = came->sum;
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations() * actors * messages);
  auto const report = rt->info(0).portable.at(0);
  auto const handled = static_cast<double>(state.iterations()) * actors * messages;
  state.counters["on_gpu"] = static_cast<double>(report.on_gpu) / handled;
  state.counters["packs"] = static_cast<double>(report.packs) / static_cast<double>(state.iterations());
}

/// One actor, one ask: a pack of one message, there and back.
void one_ask(benchmark::State& state, char const* where) {
  auto const rt = start(where);
  auto const w = rt->launch<worker>("worker");
  for (auto _ : state)
    if (auto const answer = w.ask(look{}, {.timeout = std::chrono::seconds(20)}, rondo::block); !answer)
      return state.SkipWithError(answer.error().message().c_str());
  state.SetItemsProcessed(state.iterations());
}

/// A list with one kernel that finds nothing to do: what a player costs.
void empty_list(benchmark::State& state) {
  rondo::opencl_player player({&worker_kernels}, "Portable");
  auto* const block = player.memory().allocate(4096, 64);
  for (auto _ : state) {
    rondo::kernel_calls list;
    list.add(run_worker_kernel, {0, sizeof(worker), 0, 0, 0, 0}, {block, block, block}, 1, 1);
    std::atomic<int> ended{0};
    player.play(std::move(list.all), [&ended](rondo::error_code why, std::string const&) {
      ended.store(why ? 2 : 1, std::memory_order_release);
      ended.notify_one();
    });
    ended.wait(0, std::memory_order_acquire);
    if (ended.load(std::memory_order_acquire) != 1) state.SkipWithError("the list failed");
  }
  player.memory().deallocate(block, 4096, 64);
}

BENCHMARK(empty_list)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(rounds, host, "host")->Arg(1)->Arg(750)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(rounds, opencl, "gpu")->Arg(1)->Arg(750)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(one_ask, host, "host")->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(one_ask, opencl, "gpu")->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace portable_bench

BENCHMARK_MAIN();
